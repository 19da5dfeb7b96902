"""Shadows of kernel trees as text: one file a format, one function each."""
