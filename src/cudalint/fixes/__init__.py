"""Mending what findings say: choosing fixes, making them in passes, writing the files.

Rules make the fixes, as edits; what the command line says of all this is
`cudalint.cli.fixing`.
"""
