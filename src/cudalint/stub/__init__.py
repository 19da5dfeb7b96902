"""Stubs of new rules: what `cudalint new` writes, and where."""
