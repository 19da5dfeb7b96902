"""Keeps the model of each file by its content, so that it is extracted once.

An entry is valid for one content at one path, read by one version of the
extractor and the grammar; nothing else can make it stale. A cache that can't
be read or written slows a run down and changes nothing else.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

import cudalint
from cudalint.source import is_utf8
from cudalint.syntax.model import FileModel

KEPT_DAYS = 30
"""Entries that were not used for so long are deleted."""

_DAY = 86_400


def default_folder() -> Path | None:
    """`$CUDALINT_CACHE_DIR`, else `cudalint` in the user's cache folder: never the linted tree.

    None for a user who has no home.
    """
    own = os.environ.get("CUDALINT_CACHE_DIR")
    if own:
        return Path(own)
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    try:
        return base.expanduser() / "cudalint"
    except RuntimeError:
        return None


def delete(folder: Path) -> int:
    """Delete everything that cudalint keeps in `folder`; how many bytes that were.

    Raises OSError.
    """
    from shutil import rmtree

    from cudalint.cachesize import PARTS, size_of

    size = size_of(folder)
    for part in PARTS:
        place = folder / part
        if place.is_dir() and not place.is_symlink():
            rmtree(place)
    return size


class EntryFolder:
    """Small files in the folder `folder`/models of a cache, each read and replaced whole.

    `failure` is why one could not be written, None while all is well.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "models"
        self.failure: str | None = None

    def read(self, entry: Path) -> bytes | None:
        """What an entry holds, None when it is absent or can't be read; it counts as used."""
        try:
            with entry.open("rb") as stream:
                modified = os.fstat(stream.fileno()).st_mtime
                data = stream.read()
            if not is_of_today(modified, time.time()):
                os.utime(entry)
        except OSError:
            return None
        return data

    def write(self, entry: Path, data: bytes) -> None:
        """Replace an entry; another process may do so at the same time."""
        # The number of the process alone is no name: containers that share a cache share it.
        draft = entry.with_suffix(f".{os.urandom(6).hex()}")
        try:
            if not entry.parent.is_dir():
                self._make(entry.parent)
            draft.write_bytes(data)
            draft.replace(entry)
        except OSError as error:
            self.failure = f"cannot write the cache in {self.folder.parent}: {error.strerror}"
            with suppress(OSError):
                draft.unlink()

    def _make(self, folder: Path) -> None:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        tag = self.folder.parent / "CACHEDIR.TAG"
        if not tag.exists():
            tag.write_text("Signature: 8a477f597d28d172789f06886806bc55\n# cudalint's cache.\n")


class ModelCache(EntryFolder):
    """File models, each by the content and the path of its file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._stamp = _extractor_stamp()
        self._decode = msgspec.msgpack.Decoder(FileModel).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def get(self, path: str, data: bytes) -> FileModel | None:
        """The model of a file with this path and content, None when it is not there."""
        entry = self.read(self._entry(path, data))
        try:
            return None if entry is None else self._decode(entry)
        except msgspec.MsgspecError:
            # Damaged: all the same, it is extracted anew.
            return None

    def put(self, data: bytes, model: FileModel) -> None:
        """Store the model.

        One of a file whose name is no UTF-8 is not kept: an entry holds the name,
        and can't hold such a one.
        """
        if self.failure is None and is_utf8(model.path):
            self.write(self._entry(model.path, data), self._encode(model))

    def prune(self) -> None:
        """Delete what was not used for a long time; once a day is enough."""
        marker = self.folder / "pruned"
        now = time.time()
        try:
            if is_of_today(marker.stat().st_mtime, now):
                return
        except OSError:
            if not self.folder.is_dir():
                return
        try:
            for entry in self.folder.glob("*/*"):
                # Another process may tidy too, or just give its entry the final name.
                with suppress(FileNotFoundError):
                    if now - entry.stat().st_mtime > KEPT_DAYS * _DAY:
                        entry.unlink()
            marker.touch()
        except OSError as error:
            self.failure = self.failure or f"cannot tidy {self.folder}: {error.strerror}"

    def _entry(self, path: str, data: bytes) -> Path:
        from hashlib import blake2b

        digest = blake2b(self._stamp, digest_size=20)
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + data)
        name = digest.hexdigest()
        return self.folder / name[:2] / name[2:]


def is_of_today(modified: float, now: float) -> bool:
    """Whether it was a day ago at most; what a clock that was wrong has put in the future is not.

    It would never be tidied up.
    """
    return 0 <= now - modified < _DAY


def _extractor_stamp() -> bytes:
    """What tells apart two versions of the code that makes models out of bytes.

    The version alone would not do where cudalint is being worked on, or the
    grammar was installed anew.
    """
    from importlib.util import find_spec

    files = sorted(Path(cudalint.__file__).parent.glob("syntax/*.py"))
    for name in ("tree_sitter", "tree_sitter_cuda"):
        spec = find_spec(name)
        if spec is not None and spec.origin:
            files += [Path(spec.origin), *sorted(Path(spec.origin).parent.glob("*.so"))]
    return "\n".join((cudalint.__version__, *map(state_of, files))).encode()


def state_of(file: Path) -> str:
    """What changes when a file of code does."""
    state = file.stat()
    return f"{file.name}:{state.st_size}:{state.st_mtime_ns}"
