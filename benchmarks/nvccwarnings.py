"""What nvcc's front end warns of in one source file: places, and which lines it read at all.

nvcc runs its device pass, which reads host code too, and stops after the front
end (`-fdevice-syntax-only`): there launches and kernels are judged, of templates
each instance. So a file counts as one that compiles when the front end takes it,
whatever ptxas would say; what stands under `#ifndef __CUDA_ARCH__` is not read.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cudalint.compile.environment import clean_environment
from cudalint.compile.process import Processes

FLAGS = ("-Wdefault-stream-launch", "-Wmissing-launch-bounds")
_CODES = {"20198": "CU303", "20238": "CU108"}
_DIAGNOSTIC = re.compile(
    r"^(.+)\((\d+)\): (warning|error|catastrophic error)(?: #(\d+)-D)?:? ?(.*)"
)
_INSTANCE = re.compile(r'instantiation of "(?:[^"]*::)?(\w+)" based on template argument')
_ERROR = re.compile(r"\b(?:fatal|error)\b[^:]{0,20}:")
_MARKER = re.compile(r'^# (\d+) "([^"]*)"')
_INCLUDED = ("include", "inc", "Common")


class Place(NamedTuple):
    """One warning: the rule that stands for it, the file as an absolute path, the line.

    `instance` names the kernel template whose instance nvcc speaks of at a place
    that only makes it.
    """

    code: str
    path: str
    line: int
    instance: str = ""


class Answer(NamedTuple):
    """What nvcc said. `problem` is "" where it compiles; `read` the lines of code by file."""

    problem: str
    places: frozenset[Place] = frozenset()
    read: dict[str, set[int]] = {}


class FrontEnd:
    """An nvcc that knows both warnings, asked file by file."""

    def __init__(self, nvcc: str, flags: Sequence[str], timeout: float) -> None:
        self._nvcc = nvcc
        self._flags = tuple(flags)
        self._timeout = timeout

    def ask(self, root: Path, source: Path) -> Answer:
        """Compile `source` as far as syntax goes, with the usual include folders up to `root`."""
        with tempfile.TemporaryDirectory() as folder:
            command = (
                *(self._nvcc, "-ptx", "-fdevice-syntax-only", *FLAGS, *self._flags),
                *(f"-I{include}" for include in _folders(root, source)),
                *("--keep", "--keep-dir", folder, "-o", str(Path(folder) / "out.ptx"), str(source)),
            )
            done = Processes().run(
                command,
                timeout=self._timeout,
                folder=Path(folder),
                environment=clean_environment(os.environ, Path(folder)),
            )
            if done.how != "exit":
                return Answer(f"nvcc was stopped: {done.how}")
            if not done.ok:
                return Answer(_first_error(done.output))
            read: dict[str, set[int]] = {}
            for preprocessed in Path(folder).glob("*.ii"):
                _lines_read(preprocessed, read)
            return Answer("", frozenset(_places(done.output)), read)


def _folders(root: Path, source: Path) -> list[Path]:
    """`root`, and the folders of headers of the file's folder and of those above it.

    Not these themselves: a header there may have the name of the system's.
    """
    found = [root]
    folder = source.parent
    while True:
        found += [folder / name for name in _INCLUDED if (folder / name).is_dir()]
        if folder in (root, folder.parent):
            return found
        folder = folder.parent


def _first_error(told: str) -> str:
    lines = told.splitlines() or ["nvcc failed and said nothing"]
    return next((line for line in lines if _ERROR.search(line)), lines[-1])


def _places(told: str) -> list[Place]:
    """The warnings of both kinds. The lines after one tell which instance it is about."""
    found: list[Place] = []
    for line in told.splitlines():
        match = _DIAGNOSTIC.match(line)
        if match:
            code = _CODES.get(match[4] or "", "")
            found.append(Place(code, match[1], int(match[2])))
            continue
        instance = _INSTANCE.search(line)
        if instance and found and not found[-1].instance:
            found[-1] = found[-1]._replace(instance=instance[1])
    return [place for place in found if place.code]


def _lines_read(preprocessed: Path, found: dict[str, set[int]]) -> None:
    """Add the lines of each file that hold code after preprocessing, by the line markers."""
    lines: set[int] = set()
    number = 0
    for text in preprocessed.read_text(errors="replace").splitlines():
        marker = _MARKER.match(text)
        if marker:
            number = int(marker[1])
            lines = found.setdefault(marker[2], set())
            continue
        if text and not text.isspace():
            lines.add(number)
        number += 1
