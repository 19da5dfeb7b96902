"""Tests that run the shipped kernels on a GPU; nothing here tests the linter."""
