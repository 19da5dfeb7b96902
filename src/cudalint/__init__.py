"""cudalint: a static linter for CUDA kernel trees.

Holds the version alone, so that importing the package costs nothing.
"""

__version__ = "0.1.0"
