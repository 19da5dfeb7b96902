"""The command of each contender on some files: cudalint, the bare parse, and three peers.

Each peer has one rule, the one of its own that is nearest to one of ours: cpplint
that a file names its licence (CU101), semgrep that nobody waits for a stream (CU301),
clang-tidy that the result of cudaMemcpy is looked at (CU309).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cudalint.compile.toolchain import find_toolchains

HERE = Path(__file__).parent
PEERS = ("cpplint", "semgrep", "clang-tidy")
_RUN = "from cudalint.cli.main import main; main()"
_SEMGREP_RULE = """\
rules:
  - id: sync
    languages: [cpp]
    severity: WARNING
    message: a wait for a stream
    pattern: cudaStreamSynchronize(...)
"""
_CLANG_TIDY_CHECK = "bugprone-unused-return-value"
_CLANG_TIDY_FUNCTIONS = f"{_CLANG_TIDY_CHECK}.CheckedFunctions: '^::cudaMemcpy$'"


def environment(scratch: Path) -> dict[str, str]:
    """What all contenders run in: compiled modules kept, no home, no network asked for."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CUDALINT"))}
    env["PYTHONPYCACHEPREFIX"] = str(scratch / "pycache")
    env["HOME"] = str(scratch)
    env["SEMGREP_SEND_METRICS"] = "off"
    env["SEMGREP_ENABLE_VERSION_CHECK"] = "0"
    return env


def click() -> list[str | Path]:
    """What the start of a small command line costs."""
    return [sys.executable, "-c", "import click"]


def bare_parse(folder: Path) -> list[str | Path]:
    """The bare parse of all files below `folder`."""
    return [sys.executable, HERE / "bareparse.py", folder]


def cudalint(*arguments: str | Path, cache: Path | None = None) -> list[str | Path]:
    """All rules on sources, no settings file, nothing compiled."""
    kept: list[str | Path] = ["--no-cache"] if cache is None else ["--cache-dir", cache]
    return [
        *(sys.executable, "-c", _RUN, *arguments),
        *("--isolated", "--compile", "never", "--exit-zero", "--quiet", *kept),
    ]


def peer(name: str, tools: Path, files: list[Path], scratch: Path) -> list[str | Path]:
    """One of `PEERS`, installed in the folder `tools`, on `files`, in one process."""
    if name == "cpplint":
        options = ["--quiet", "--filter=-,+legal/copyright", "--extensions=cu,cuh,cpp,cc,h,hpp"]
        return [tools / name, *options, *files]
    if name == "semgrep":
        rule = scratch / "rule.yml"
        rule.write_text(_SEMGREP_RULE)
        options = ["--metrics=off", "--disable-version-check", "--no-git-ignore", "--jobs=1"]
        known = "--scan-unknown-extensions"
        return [tools / name, "scan", "--config", rule, *options, "--quiet", known, *files]
    config = "--config={CheckOptions: {" + _CLANG_TIDY_FUNCTIONS + "}}"
    options = ["--quiet", f"--checks=-*,{_CLANG_TIDY_CHECK}", config]
    return [tools / name, *options, *files, "--", *clang_arguments(scratch)]


def clang_arguments(scratch: Path) -> list[str]:
    """How clang reads CUDA: with the headers of the toolkit, as every user of it does.

    Of curand, which no kernel here uses, clang's own wrapper wants one header.
    """
    # An nvcc on PATH may be a script of somebody's, with no headers around it.
    homes = (Path(found.nvcc).resolve().parents[1] for found in find_toolchains().found)
    toolkit = next(home for home in homes if (home / "include" / "cuda.h").is_file())
    (scratch / "curand").mkdir(exist_ok=True)
    (scratch / "curand" / "curand_mtgp32_kernel.h").touch()
    return [
        *("-x", "cuda", f"--cuda-path={toolkit}", "-nocudalib", "--cuda-host-only", "-std=c++17"),
        *("-Wno-unknown-cuda-version", "-isystem", str(scratch / "curand")),
    ]
