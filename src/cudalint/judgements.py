"""Keeps what the rules on sources said of a run, for the next one that is given the same.

The key is everything that such rules can see: the files, the trees and commands as
they were read, the settings, and the code of cudalint and libclang. So an entry
can't be out of date. There is one for each root and way of asking; a run that was
given something else replaces it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import cudalint
from cudalint.cache import EntryFolder
from cudalint.judged import Judged
from cudalint.settings.model import Settings
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.compiledb.stage import CompileCommands
    from cudalint.judging import Selection
    from cudalint.runner import Request
    from cudalint.tree.model import KernelTree

_KEY_BYTES = 32


class Judgements:
    """The kept judgement of one root and way of asking.

    `key` is what the run at hand is given, once `get` has been told it.
    """

    def __init__(self, folder: Path, root: Path, asked: bytes) -> None:
        self._entries = EntryFolder(folder)
        self._name = blake2b(os.fsencode(root) + b"\0" + asked, digest_size=20).hexdigest()
        self._asked = asked
        self._key = b""

    @classmethod
    def of(
        cls, request: Request, settings: Settings, selection: Selection, root: Path
    ) -> Judgements | None:
        """None where nothing is kept: without a cache, and for what only this run knows.

        That is the content that an editor gives, and rules of plugins, which may look at
        anything.
        """
        if request.cache is None or request.contents or request.rules or selection.owners:
            return None
        codes = [rule.code for rule in selection.rules]
        try:
            asked = _encoded((settings, codes, request.shard, request.paths, str(request.cwd)))
        except UnicodeEncodeError:
            # A name that is no UTF-8: as with models, there is nothing to keep it in.
            return None
        return cls(request.cache, root, asked)

    def get(
        self,
        sources: Mapping[str, SourceFile],
        trees: Sequence[KernelTree],
        commands: CompileCommands,
    ) -> Judged | None:
        """What was said of just these; None when it was something else, or is not kept."""
        key = blake2b(self._asked, digest_size=_KEY_BYTES)
        key.update(_code_stamp())
        try:
            key.update(_encoded((trees, commands.by_path)))
        except UnicodeEncodeError:
            return None
        for path, file in sources.items():
            content = blake2b(file.data, digest_size=_KEY_BYTES).digest()
            state = f"\0{file.requested}{file.problem}\0".encode("utf-8", "surrogateescape")
            key.update(os.fsencode(path) + state + content)
        self._key = key.digest()
        entry = self._entries.read(self._entry)
        if entry is None or entry[:_KEY_BYTES] != self._key:
            return None
        try:
            return msgspec.msgpack.decode(entry[_KEY_BYTES:], type=Judged)
        except msgspec.MsgspecError:
            return None

    def put(self, judged: Judged) -> str | None:
        """Keep what was said of what `get` was told; why that was not possible, if so."""
        try:
            data = msgspec.msgpack.encode(judged)
        except UnicodeEncodeError:
            return None
        if self._key:
            self._entries.write(self._entry, self._key + data)
        return self._entries.failure

    @property
    def _entry(self) -> Path:
        return self._entries.folder / "runs" / self._name


def _encoded(value: Any) -> bytes:
    return msgspec.msgpack.Encoder(order="deterministic").encode(value)


def _code_stamp() -> bytes:
    """What tells apart two versions of all code that judges."""
    from importlib.util import find_spec

    spec = find_spec("clang")
    folders = [*cudalint.__path__, *(spec.submodule_search_locations or () if spec else ())]
    states = (state for folder in folders for state in _states(folder))
    return "\n".join((cudalint.__version__, *states)).encode("utf-8", "surrogateescape")


def _states(folder: str) -> Iterator[str]:
    """What changes when a file of code below `folder` does; compiled modules are none."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _states(entry.path)
        elif not entry.name.endswith(".pyc"):
            state = entry.stat()
            yield f"{entry.path}:{state.st_size}:{state.st_mtime_ns}"
