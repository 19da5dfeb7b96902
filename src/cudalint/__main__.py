"""`python -m cudalint` is `cudalint`."""

import sys

if __name__ == "__main__":
    # `-m` puts the current folder first, which may be the tree that is linted: no
    # module of that name there shall be taken for a library.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    from cudalint.cli.main import main

    main()
