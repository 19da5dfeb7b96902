"""What cudalint finds to work with on a machine: its libraries, compilers, plugins and cache.

Each is tried, not only looked for. The settings are `cudalint config`'s business.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import msgspec

import cudalint

_PROBE = b'extern "C" __global__ void probe(const float* in) {}\n'


class Part(msgspec.Struct, frozen=True):
    """One part: what it is, what was found, and what its lack costs ("" where it is well)."""

    name: str
    found: str
    lack: str = ""


def equipment(cache: Path | None) -> Iterator[Part]:
    """Every part in turn; `cache` is the cache's folder, None for none."""
    yield Part("cudalint", cudalint.__version__)
    yield Part("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield _grammar()
    yield _libclang()
    yield from _compilers()
    yield from _plugins()
    yield _cache(cache)


def grammar_version() -> str:
    """The versions of the parser and its grammar."""
    from importlib.metadata import version

    return f"tree-sitter {version('tree-sitter')}, tree-sitter-cuda {version('tree-sitter-cuda')}"


def libclang_version() -> str:
    """The version of the libclang package."""
    from importlib.metadata import version

    return version("libclang")


def _grammar() -> Part:
    from cudalint.syntax.read import read_model

    read = [kernel.name for kernel in read_model("probe.cu", _PROBE).kernels]
    lack = "" if read == ["probe"] else "no source can be read: reinstall tree-sitter-cuda"
    return Part("grammar", grammar_version(), lack)


def _libclang() -> Part:
    from cudalint.semantics.clang import kernels
    from cudalint.semantics.sandbox import ClangError

    try:
        found = kernels("probe.cu", {"probe.cu": _PROBE}, 1)
    except ClangError as error:
        return Part("libclang", str(error), "types are judged by their spelling alone")
    types = [parameter.canonical for kernel in found for parameter in kernel.parameters]
    lack = "" if types == ["const float*"] else f"it says {types} of a 'const float*'"
    return Part("libclang", libclang_version(), lack)


def _compilers() -> Iterator[Part]:
    from cudalint.compile.toolchain import find_toolchains

    toolchains = find_toolchains()
    for toolchain in toolchains.found:
        archs = f"sm_{min(toolchain.archs)} to sm_{max(toolchain.archs)}"
        yield Part("nvcc", f"{toolchain.version}, {archs}, {toolchain.nvcc}")
        if toolchain.nvdisasm is None:
            yield Part("nvdisasm", f"none beside {toolchain.nvcc}", "spills have no source lines")
        else:
            yield Part("nvdisasm", toolchain.nvdisasm)
    for problem in toolchains.problems:
        yield Part("nvcc", problem, "it is not used")
    if not toolchains.found:
        mend = "nothing is compiled (CU5): install a CUDA toolkit, or cudalint[nvcc] with pip"
        yield Part("nvcc", "none that can be used", mend)


def _plugins() -> Iterator[Part]:
    """Every installed plugin, whether settings name it or not."""
    from cudalint.plugins import installed_plugins
    from cudalint.registry import known_rules

    for name, plugin in installed_plugins().items():
        known = known_rules([name])
        codes = ", ".join(sorted(known.owners)) or "no rule"
        lack = "; ".join(problem.message for problem in known.problems)
        yield Part("plugin", f"{plugin}: {codes}", lack)


def _cache(folder: Path | None) -> Part:
    if folder is None:
        return Part("cache", "none", "everything is read anew in each run")
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return Part("cache", f"{folder} can't be written", "everything is read anew in each run")
    from cudalint.cachesize import bound, size_of

    try:
        most = bound()
    except ValueError as error:
        return Part("cache", f"{folder}, {size_of(folder) / 1e6:.1f} MB", str(error))
    return Part("cache", f"{folder}, {size_of(folder) / 1e6:.1f} MB of {most / 1e6:.0f} MB")
