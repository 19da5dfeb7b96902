"""Compiles the kernels of one target to cubins, as its KERNEL.toml files say.

A target is a leaf such as "qwen3-next-80b-a3b/nvfp4", or "" for the baseline alone. Its modules are
common's files with the leaf's laid over them. Loading and launching is ``driver.py``'s work.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from .launch import KERNELS


@dataclass(frozen=True)
class Module:
    """A source file, the name under which the host looks its cubin up, and its nvcc flags."""

    name: str
    source: Path
    flags: tuple[str, ...]


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "KERNEL.toml"
    return msgspec.toml.decode(path.read_bytes()) if path.is_file() else {}


def modules(leaf: str) -> dict[str, Module]:
    """The modules of a target by name: the leaf's file wins over common's of the same stem."""
    layers = [KERNELS / "common"] + ([KERNELS / leaf] if leaf else [])
    flags: list[str] = []
    names: dict[str, str] = {}
    sources: dict[str, Path] = {}
    for layer in layers:
        manifest = _manifest(layer)
        flags += [
            f for f in manifest.get("build", {}).get("extra_nvcc_flags", []) if f not in flags
        ]
        names |= manifest.get("modules", {})
        sources |= {path.stem: path for path in sorted(layer.glob("*.cu"))}
    includes = [f"-I{layer}" for layer in reversed(layers)]
    return {
        names.get(stem, stem): Module(names.get(stem, stem), source, (*flags, *includes))
        for stem, source in sources.items()
    }


def _sources_digest() -> str:
    """Any change to any source builds everything again: includes are not followed."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cu*")):
        digest.update(path.relative_to(KERNELS).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def start_build(
    wanted: Iterable[Module], arch: str, nvcc: str, jobs: int
) -> dict[Module, Future[Path]]:
    """Starts compiling each module for ``arch`` (such as "sm_90"), ``jobs`` at a time.

    The cubins lie below the system's temporary folder and are reused while no source changes. A
    future's result is RuntimeError with nvcc's words when its module does not compile.
    """
    folder = Path(tempfile.gettempdir()) / f"kernel-cubins-{_sources_digest()}-{arch}"
    folder.mkdir(exist_ok=True)
    pool = ThreadPoolExecutor(jobs)
    futures = {module: pool.submit(_compile, module, arch, nvcc, folder) for module in wanted}
    pool.shutdown(wait=False)
    return futures


def _compile(module: Module, arch: str, nvcc: str, folder: Path) -> Path:
    identity = " ".join((str(module.source), *module.flags))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    cubin = folder / f"{module.name}-{digest}.cubin"
    if not cubin.is_file():
        partial = cubin.with_suffix(".partial")
        command = [nvcc, f"-arch={arch}", "-cubin", "-lineinfo", *module.flags]
        done = subprocess.run(
            [*command, "-o", str(partial), str(module.source)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{module.source}: nvcc failed\n{done.stdout}{done.stderr}")
        partial.rename(cubin)
    return cubin
