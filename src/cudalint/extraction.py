"""From files to their models: out of the cache, else by the extractor, in processes if it pays.

What comes out does not depend on how many processes there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.batches import File, batches
from cudalint.finding import Level, Span
from cudalint.run import Notification
from cudalint.source import SourceFile, is_utf8
from cudalint.syntax.lastread import last_read

if TYPE_CHECKING:
    from cudalint.cache import ModelCache
    from cudalint.syntax.model import FileModel

POOL_FILES = 64
POOL_BYTES = 2_000_000
"""Below both, one process is done before a second has started."""

_CHUNK_BYTES = 200_000

SHARED_BYTES = 25_000_000
"""From so much source on, half a gigabyte of models counts for more than a tenth of the time."""


class Extraction(msgspec.Struct, frozen=True):
    """The model of each file that could be read, by path and in order of the files.

    `cut_off` says of files why they were not read to their end: they have no model.
    """

    models: Mapping[str, FileModel]
    notifications: tuple[Notification, ...] = ()
    cut_off: dict[str, str] = {}


class _CutOff(msgspec.Struct, frozen=True):
    """What there is of a file that would cost too much."""

    reason: str


def extract(files: Sequence[SourceFile], cache: ModelCache | None, jobs: int) -> Extraction:
    """Get the models of `files`; those with a problem, and those cut off, are left out.

    A file on which the extractor itself fails gives a notification, and an
    empty model.
    """
    last = last_read()
    keep = _keeper(files)
    found: dict[str, FileModel] = {}
    missing: list[File] = []
    for file in files:
        model = last.model(file.path, file.data) if last else None
        if model is None and cache and not file.problem:
            kept = cache.get(file.path, file.data)
            model = keep(kept) if kept else None
        if model is not None:
            found[file.path] = model
        elif not file.problem:
            missing.append((file.path, file.data))
    notifications: list[Notification] = []
    failed: dict[str, FileModel] = {}
    cut_off: dict[str, str] = {}
    for (path, data), result in zip(missing, _extract_all(missing, jobs), strict=True):
        if isinstance(result, str):
            notifications.append(_failed(path, result))
            failed[path] = _empty(path, data)
            continue
        if isinstance(result, _CutOff):
            cut_off[path] = result.reason
            continue
        found[path] = keep(result)
        if cache and (last is None or last.afresh):
            cache.put(data, result)
    if last:
        last.keep_models(found, {file.path: file.data for file in files})
    found |= failed
    models = {file.path: found[file.path] for file in files if file.path in found}
    return Extraction(models, tuple(notifications), cut_off)


def _keeper(files: Sequence[SourceFile]) -> Callable[[FileModel], FileModel]:
    """What is done with each model that is kept: nothing, where they take little."""
    if sum(len(file.data) for file in files) < SHARED_BYTES:
        return lambda model: model
    from cudalint.syntax.sharing import Sharing

    return Sharing().share


def later(files: Sequence[SourceFile], cache: ModelCache | None) -> Extraction:
    """The models of files that `extract` has read before, each when it is asked for."""
    return Extraction(_OnDemand({file.path: file for file in files if not file.problem}, cache))


class _OnDemand(Mapping[str, "FileModel"]):
    def __init__(self, files: Mapping[str, SourceFile], cache: ModelCache | None) -> None:
        self._files = files
        self._cache = cache
        self._known: dict[str, FileModel] = {}

    def __getitem__(self, path: str) -> FileModel:
        if path not in self._known:
            self._known[path] = extract([self._files[path]], self._cache, 1).models[path]
        return self._known[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _extract_all(pieces: Sequence[File], jobs: int) -> Iterator[FileModel | _CutOff | str]:
    """A model, or the traceback of a failure, for each piece, in order."""
    if jobs > 1 and (len(pieces) > POOL_FILES or _size(pieces) > POOL_BYTES):
        yield from _in_processes(pieces, jobs)
        return
    yield from _extract_here(pieces)


def _extract_here(pieces: Sequence[File]) -> Iterator[FileModel | _CutOff | str]:
    from cudalint.syntax.effort import TooComplexError
    from cudalint.syntax.read import read_models

    for result in read_models(pieces):
        if isinstance(result, TooComplexError):
            yield _CutOff(str(result))
        elif isinstance(result, Exception):
            import traceback

            yield "".join(traceback.format_exception(result))
        else:
            yield result


def _in_processes(pieces: Sequence[File], jobs: int) -> Iterator[FileModel | _CutOff | str]:
    from cudalint.syntax.model import FileModel
    from cudalint.workers import Died, map_in_processes

    decode = msgspec.msgpack.Decoder(FileModel | str).decode
    chunks = list(batches(pieces, _CHUNK_BYTES))
    results = map_in_processes(_extract_chunk, chunks, jobs)
    for chunk, found in zip(chunks, results, strict=True):
        if isinstance(found, Died):
            yield from (_worker_died() for _ in chunk)
        else:
            yield from (decode(one) if isinstance(one, bytes) else one for one in found)


def _extract_chunk(chunk: Sequence[File]) -> list[bytes | FileModel | _CutOff | str]:
    encode = msgspec.msgpack.Encoder().encode
    found: list[bytes | FileModel | _CutOff | str] = []
    for piece, result in zip(chunk, _extract_here(chunk), strict=True):
        # Pickling, which is slow, is left for what UTF-8 can't hold: a file name may be any bytes.
        plain = is_utf8(piece[0]) and not isinstance(result, _CutOff)
        found.append(encode(result) if plain else result)
    return found


def _worker_died() -> str:
    return "the process that read this file, or one beside it, died\n"


def _size(pieces: Iterable[File]) -> int:
    return sum(len(data) for _, data in pieces)


def default_jobs() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _empty(path: str, data: bytes) -> FileModel:
    from cudalint.syntax.model import FileModel

    return FileModel(path, len(data))


def _failed(path: str, traceback: str) -> Notification:
    reason = traceback.strip().rpartition("\n")[2]
    message = f"internal error while reading '{path}': {reason}"
    return Notification("file-failed", Level.ERROR, message, Span(path, 0, 0), traceback)
