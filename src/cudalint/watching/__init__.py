"""Linting again when something has changed: what a run depends on, and waiting for it.

What is done then, and what the screen shows, is `cudalint.cli.watching`.
"""
