"""From the paths on the command line to the files that are read.

`arguments` expands and joins them, `walk` goes through folders, `gitignore`
says what git leaves out, `read` reads one file. Paths are strings throughout:
a tree may have a hundred thousand.
"""
