"""The environment that nvcc and its programs run in.

What chooses the host compiler and its headers stays; what adds arguments, names
files to write, or translates messages goes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_REMOVED = frozenset(
    {
        "NVCC_APPEND_FLAGS",
        "NVCC_PREPEND_FLAGS",
        "CUDAFE_FLAGS",
        "PTXAS_FLAGS",
        "NVVMIR_LIBRARY_DIR",
        "DEPENDENCIES_OUTPUT",
        "SUNPRO_DEPENDENCIES",
        "GCC_COMPARE_DEBUG",
        "SOURCE_DATE_EPOCH",
        "LANG",
        "LANGUAGE",
        "TMP",
        "TEMP",
        "BASH_ENV",
        "ENV",
    }
)
COUNTED = ("NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
"""The variables that change what a compile reads: they belong to its cache key."""


def clean_environment(
    environment: Mapping[str, str], temporary: Path | None = None
) -> dict[str, str]:
    """A copy for a child process; its temporary files go to `temporary`."""
    kept = {
        name: value
        for name, value in environment.items()
        if name not in _REMOVED and not name.startswith("LC_")
    }
    kept["LC_ALL"] = "C"
    if temporary is not None:
        kept["TMPDIR"] = str(temporary)
    return kept


def host_compiler(environment: Mapping[str, str]) -> str | None:
    """The absolute path of the compiler that nvcc preprocesses with; None if there is none.

    NVCC_CCBIN names it, or the folder that it is in; else it is the `gcc` on PATH.
    """
    import shutil

    named = environment.get("NVCC_CCBIN")
    if named and Path(named).is_dir():
        return shutil.which("gcc", path=named)
    return shutil.which(named or "gcc", path=environment.get("PATH", os.defpath))
