"""`python -m cudalint` is `cudalint`."""

from cudalint.cli.main import main

if __name__ == "__main__":
    main()
