"""Finding nvcc, and choosing one for an arch.

Looked at, in this order: PATH, CUDA_HOME, CUDA_PATH, and the PyPI packages of
the `nvcc` extra beside the running Python. Compiling is `cudalint.compile.stage`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from cudalint.compile.archs import arch_number
from cudalint.compile.environment import clean_environment, host_compiler
from cudalint.compile.process import Processes
from cudalint.regex import regex

OLDEST_RELEASE = (12, 0)
_FAMILY_RELEASE = (12, 9)
"""The first release that takes a family arch such as `sm_121f`."""
_ANSWER_WITHIN = 20.0
_PACKAGED = ("nvidia/cu13/bin", "nvidia/cu12/bin", "nvidia/cuda_nvcc/bin")
_RELEASE = regex(r"release (\d+)\.(\d+), V([\d.]+)")
_CODE = regex(r"sm_(\d+)")


class Toolchain(msgspec.Struct, frozen=True):
    """One usable nvcc.

    `nvcc` and `nvdisasm` are absolute paths, the latter None when there is none.
    `version` is like "13.0.88"; `archs` the numbers that `--list-gpu-code` names.
    """

    nvcc: str
    version: str
    release: tuple[int, int]
    archs: frozenset[int]
    nvdisasm: str | None = None

    def knows(self, arch: str | None) -> bool:
        """Whether it compiles for `arch`; None is its own default arch."""
        if arch is None:
            return True
        if arch.endswith("f") and self.release < _FAMILY_RELEASE:
            return False
        return arch_number(arch) in self.archs


class Toolchains(msgspec.Struct, frozen=True):
    """What was found: usable ones, the preferred first, and a line on each that is not."""

    found: tuple[Toolchain, ...] = ()
    problems: tuple[str, ...] = ()

    def choose(self, arch: str | None) -> Toolchain | None:
        """The first toolchain that knows `arch`."""
        return next((toolchain for toolchain in self.found if toolchain.knows(arch)), None)


def find_toolchains(
    environment: Mapping[str, str] | None = None, search: Sequence[str] | None = None
) -> Toolchains:
    """Look for every nvcc, and ask each for its version and archs.

    `environment` stands for the process' environment, `search` for `sys.path`.
    An nvcc that can't be run, or is older than 12.0, is a line in `problems`; so
    is a host compiler that is missing, without which none is usable.
    """
    env = os.environ if environment is None else environment
    packaged = tuple(_packaged(sys.path if search is None else search))
    found: list[Toolchain] = []
    problems: list[str] = []
    for nvcc in _candidates(env, packaged):
        toolchain = _ask(nvcc, env, packaged)
        if isinstance(toolchain, str):
            problems.append(toolchain)
        elif all(other.version != toolchain.version for other in found):
            found.append(toolchain)
    if found and host_compiler(env) is None:
        return Toolchains((), (*problems, "nvcc needs a host compiler, and PATH has no gcc"))
    return Toolchains(tuple(found), tuple(problems))


def _candidates(env: Mapping[str, str], packaged: Sequence[Path]) -> Iterator[Path]:
    """Every nvcc there is, each file once."""
    homes = [env[name] for name in ("CUDA_HOME", "CUDA_PATH") if env.get(name)]
    folders = [*_absolute(env.get("PATH", "").split(os.pathsep))]
    folders += [folder / "bin" for folder in _absolute(homes)]
    seen: set[Path] = set()
    for folder in [*folders, *packaged]:
        nvcc = folder / "nvcc"
        if nvcc.is_file() and os.access(nvcc, os.X_OK) and nvcc.resolve() not in seen:
            seen.add(nvcc.resolve())
            yield nvcc


def _absolute(folders: Sequence[str]) -> Iterator[Path]:
    """The absolute ones: a relative folder could lie in the tree that is linted."""
    return (Path(folder) for folder in folders if Path(folder).is_absolute())


def _packaged(search: Sequence[str]) -> Iterator[Path]:
    """The folders that the PyPI packages put their programs in."""
    for folder in _absolute(search):
        for inside in _PACKAGED:
            if (folder / inside / "nvcc").is_file():
                yield folder / inside


def _ask(nvcc: Path, env: Mapping[str, str], packaged: Sequence[Path]) -> Toolchain | str:
    """The toolchain of `nvcc`, or in one line what is wrong with it."""
    answers: list[str] = []
    for question in ("--version", "--list-gpu-code"):
        try:
            outcome = Processes().run(
                [str(nvcc), question],
                timeout=_ANSWER_WITHIN,
                folder=Path("/"),
                environment=clean_environment(env),
                output_limit=1 << 20,
            )
        except OSError as error:
            return f"{nvcc} can't be run: {error.strerror or error}"
        if not outcome.ok:
            return f"{nvcc} {question} failed"
        answers.append(outcome.output)
    release = _RELEASE.search(answers[0])
    if release is None:
        return f"{nvcc} doesn't say its release"
    number = (int(release[1]), int(release[2]))
    if number < OLDEST_RELEASE:
        needed = ".".join(map(str, OLDEST_RELEASE))
        return f"{nvcc} is release {number[0]}.{number[1]}, and {needed} or later is needed"
    return Toolchain(
        nvcc=str(nvcc),
        version=release[3],
        release=number,
        archs=frozenset(int(code) for code in _CODE.findall(answers[1])),
        nvdisasm=_nvdisasm(nvcc, env, packaged),
    )


def _nvdisasm(nvcc: Path, env: Mapping[str, str], packaged: Sequence[Path]) -> str | None:
    """The disassembler beside nvcc, else on PATH, else that of the packages."""
    folders = [nvcc.parent, nvcc.resolve().parent]
    folders += [*_absolute(env.get("PATH", "").split(os.pathsep)), *packaged]
    for folder in folders:
        program = folder / "nvdisasm"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return None
