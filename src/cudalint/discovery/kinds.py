"""Which files are for us, by name."""

from __future__ import annotations

SOURCE_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".cxx", ".inl")

MANIFESTS = frozenset({"KERNEL.toml", "HARDWARE.toml", "MODEL.toml"})


def is_source(path: str) -> bool:
    """Whether `path` has the suffix of CUDA or C++ source."""
    return path.endswith(SOURCE_SUFFIXES)


def is_manifest(path: str) -> bool:
    """Whether `path` is a manifest of a kernel tree."""
    return path.rpartition("/")[2] in MANIFESTS


def is_ours(path: str) -> bool:
    """Whether a file of this name is analysed at all."""
    return is_source(path) or is_manifest(path)
