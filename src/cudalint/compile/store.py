"""Compile results on disk, found again by the content of all that a compile read.

For a key (the question: flags, arch, version of nvcc, path) there are a few
answers, each with the files that nvcc read and a hash of each. An answer holds
while all of those are unchanged and no file has come up that would be found
before one of them. Where the cache lies is `cudalint.cache`'s business. What is
damaged is as good as absent, and what can't be written is said once.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

from cudalint.compile.model import Compilation
from cudalint.source import is_utf8

_T = TypeVar("_T")

_ANSWERS_KEPT = 8
_DEEPEST = 8
_DAY = 86_400
_KEPT_DAYS = 30
_SEAL = 16
_MAY_LOOK_FOR_FILES = b"__has_include"


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    """`files` are (path relative to the project root, hash); `outside` names a list of others.

    `seen` is the hash of which names of interest the search folders hold.
    """

    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    seen: str
    outside: str
    result: Compilation


class Reading(msgspec.Struct, frozen=True):
    """What one compile read: `inside` the project root and relative to it, `outside` absolute.

    `folders` are those that quoted includes are searched in, relative to the
    root; `started` is a file's modification time, had it been written as the compile started.
    """

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    folders: tuple[str, ...]
    started: float


class Store:
    """The results under `folder`; one instance for one run. Safe to use from several threads."""

    def __init__(self, folder: Path, root: Path, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._root = root
        self._warn = warn
        self._warned = False
        self._hashes: dict[Path, str | None] = {}
        self._names: dict[Path, tuple[str, ...]] = {}
        self._lists: dict[str, dict[str, str]] = {}
        self._current: dict[str, bool] = {}

    def find(self, key: str) -> Compilation | None:
        """The result kept under `key` whose files are all as they were, or None."""
        for answer in self._answers(key):
            if self._holds(answer):
                return answer.result
        return None

    def keep(self, key: str, reading: Reading, result: Compilation) -> None:
        """Keep `result` under `key`, unless what it depends on can't be pinned down.

        That is so when a file has changed since the compile started, is gone, or
        asks for files that need not exist (`__has_include`); and when a path is
        no text.
        """
        if not all(map(is_utf8, (*reading.inside, *reading.outside, *reading.folders))):
            return
        files = self._pinned(reading)
        outside = {path: self._hash(Path(path)) for path in reading.outside}
        if files is None or None in outside.values():
            return
        known = {path: digest for path, digest in outside.items() if digest is not None}
        listed = msgspec.msgpack.encode(sorted(known.items()))
        name = _digest(listed)
        if name not in self._lists:
            self._write(self._path("headers", name), listed)
            self._lists[name] = known
        answer = _Answer(
            files=files,
            folders=reading.folders,
            seen=self._seen(reading.folders, [*reading.inside, *reading.outside]),
            outside=name,
            result=result,
        )
        others = [other for other in self._answers(key) if other.files != files]
        answers = [answer, *others][:_ANSWERS_KEPT]
        self._write(self._path("results", key), msgspec.msgpack.encode(answers))

    def prune(self) -> None:
        """Delete results that were not used for a long time; done once a day at most."""
        marker = self._folder / "pruned"
        now = time.time()
        try:
            if not self._folder.is_dir() or 0 <= _age(marker, now) < _DAY:
                return
            for file in self._folder.glob("*/*/*"):
                if _age(file, now) > _KEPT_DAYS * _DAY:
                    file.unlink(missing_ok=True)
            marker.touch()
        except OSError as error:
            self._give_up("", error)

    def _pinned(self, reading: Reading) -> tuple[tuple[str, str], ...] | None:
        files: list[tuple[str, str]] = []
        for path in reading.inside:
            file = self._root / path
            try:
                data = file.read_bytes()
                changed = file.stat().st_mtime
            except OSError:
                return None
            if changed >= reading.started or _MAY_LOOK_FOR_FILES in data:
                return None
            files.append((path, _digest(data)))
        return tuple(files)

    def _holds(self, answer: _Answer) -> bool:
        if any(self._hash(self._root / path) != digest for path, digest in answer.files):
            return False
        if not self._is_current(answer.outside):
            return False
        read = [*(path for path, _ in answer.files), *self._lists[answer.outside]]
        return self._seen(answer.folders, read) == answer.seen

    def _is_current(self, name: str) -> bool:
        """Whether the files of a kept list, which many answers share, are all as they were."""
        if name not in self._current:
            files = _decode(self._read(self._path("headers", name)), tuple[tuple[str, str], ...])
            if files is not None:
                self._lists[name] = dict(files)
            self._current[name] = files is not None and all(
                self._hash(Path(path)) == digest for path, digest in files
            )
        return self._current[name]

    def _seen(self, folders: Sequence[str], read: Sequence[str]) -> str:
        """A hash of what in `folders` is called like a file (or its folder) that was read."""
        interesting = frozenset(part for path in read for part in path.split("/"))
        found = [
            f"{folder}:{name}"
            for folder in sorted(set(folders))
            for name in self._named(self._root / folder, "", interesting, 0)
        ]
        return _digest("\n".join(found).encode("utf-8", "surrogateescape"))

    def _named(
        self, folder: Path, prefix: str, interesting: frozenset[str], depth: int
    ) -> list[str]:
        found: list[str] = []
        for name in self._list(folder):
            if name.rstrip("/") not in interesting:
                continue
            found.append(prefix + name)
            if name.endswith("/") and depth < _DEEPEST:
                found += self._named(folder / name, prefix + name, interesting, depth + 1)
        return found

    def _list(self, folder: Path) -> tuple[str, ...]:
        """The sorted names in `folder`, folders with a slash at the end."""
        if folder not in self._names:
            try:
                with os.scandir(folder) as entries:
                    names = [e.name + "/" if e.is_dir() else e.name for e in entries]
            except OSError:
                names = []
            self._names[folder] = tuple(sorted(names))
        return self._names[folder]

    def _hash(self, path: Path) -> str | None:
        """The hash of a file's content, read once in a run; None for one that can't be read."""
        if path not in self._hashes:
            try:
                self._hashes[path] = _digest(path.read_bytes())
            except OSError:
                self._hashes[path] = None
        return self._hashes[path]

    def _answers(self, key: str) -> tuple[_Answer, ...]:
        return _decode(self._read(self._path("results", key)), tuple[_Answer, ...]) or ()

    def _path(self, kind: str, name: str) -> Path:
        return self._folder / kind / name[:2] / name

    def _read(self, path: Path) -> bytes:
        """The payload of a file; empty when it is absent, unreadable or damaged."""
        try:
            data = path.read_bytes()
            if not 0 <= _age(path, time.time()) <= _DAY:
                os.utime(path)
        except OSError:
            return b""
        payload = data[_SEAL:]
        return payload if data[:_SEAL] == _seal(payload) else b""

    def _write(self, path: Path, payload: bytes) -> None:
        """Write atomically: others see the old file or the new one."""
        temporary = ""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_seal(payload) + payload)
            Path(temporary).replace(path)
        except OSError as error:
            self._give_up(temporary, error)

    def _give_up(self, temporary: str, error: OSError) -> None:
        with contextlib.suppress(OSError):
            if temporary:
                Path(temporary).unlink()
        if not self._warned:
            self._warned = True
            self._warn(f"compile results can't be kept in {self._folder}: {error.strerror}")


def _age(path: Path, now: float) -> float:
    """How many seconds ago the file was written; endless for one that is not there.

    Less than none where a clock that was wrong has put it in the future.
    """
    try:
        return now - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _seal(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=_SEAL, person=b"cudalint").digest()


def _decode(data: bytes, kind: type[_T]) -> _T | None:
    """The value in a payload; None for one that is empty or of another shape."""
    if not data:
        return None
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.MsgspecError:
        return None
