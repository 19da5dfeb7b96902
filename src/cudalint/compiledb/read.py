"""Reads a compilation database: JSON as CMake, Ninja, Bazel and Bear write it.

Which file is read is `cudalint.compiledb.find`. Nothing of what the entries name
is opened or run.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Iterable, Sequence

import msgspec

from cudalint.compiledb.arguments import below, read_arguments
from cudalint.compiledb.error import DatabaseError
from cudalint.compiledb.model import ReadCommand
from cudalint.compiledb.options import split_command
from cudalint.lines import LineIndex

_WORDS = {"str": "a string", "int": "a number", "array": "a list", "object": "an object"}
_NULL = b"null"
_ABSENT = msgspec.Raw(_NULL)


class _Entry(msgspec.Struct, frozen=True):
    """An entry as it stands in the file; its arguments are read only when they are wanted."""

    directory: str
    file: str
    command: str | None = None
    arguments: msgspec.Raw = _ABSENT


class Database:
    """The entries of the file that messages call `label`, by the files that they compile.

    `folder` is the absolute folder of the database, `roots` are the absolute
    names of the project root. Raises DatabaseError where the JSON, or an entry,
    is not what it must be; what is wrong with the words of a command is found
    when that command is asked for.
    """

    def __init__(self, label: str, data: bytes, folder: str, roots: Sequence[str]) -> None:
        self._label = label
        self._data = data
        self._folder = folder
        self._roots = roots
        self._entries: dict[str, list[tuple[int, _Entry]]] = {}
        for number, entry in enumerate(self._decoded()):
            path = below(self._absolute(entry, entry.file), roots)
            if path is not None:
                self._entries.setdefault(path, []).append((number, entry))

    def commands(self, path: str) -> tuple[ReadCommand, ...]:
        """The distinct commands of the file at `path` (relative to the root), in their order.

        Raises DatabaseError.
        """
        found = (self._command(number, entry) for number, entry in self._entries.get(path, ()))
        return tuple(dict.fromkeys(found))

    def _command(self, number: int, entry: _Entry) -> ReadCommand:
        arguments = bytes(entry.arguments)
        written = entry.command if arguments == _NULL else arguments
        if written is None:
            raise self._wrong(number, "has neither 'arguments' nor 'command'")
        directory = self._absolute(entry, ".")
        return read_arguments(self._words(number, written), directory, self._roots)

    def _words(self, number: int, written: str | bytes) -> list[str]:
        try:
            if isinstance(written, bytes):
                return msgspec.json.decode(written, type=list[str])
            return split_command(written)
        except ValueError as error:  # msgspec's own errors are ValueErrors too
            key = "arguments" if isinstance(written, bytes) else "command"
            raise self._wrong(number, f"'{key}': {_said(error)}") from None

    def _absolute(self, entry: _Entry, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._folder, entry.directory, path))

    def _decoded(self) -> Iterable[_Entry]:
        try:
            raw = self._raw()
        except RecursionError:
            raise DatabaseError(f"{self._label}: nested too deep") from None
        except msgspec.MsgspecError as error:
            raise DatabaseError(
                f"{self._place(_offset(error, self._data))}: {_said(error)}"
            ) from None
        decode = msgspec.json.Decoder(_Entry).decode
        for number, text in enumerate(raw):
            try:
                yield decode(text)
            except msgspec.MsgspecError as error:
                raise self._wrong(number, _said(error)) from None

    def _raw(self) -> list[msgspec.Raw]:
        data = self._data
        if data.startswith(codecs.BOM_UTF8):
            data = data.replace(codecs.BOM_UTF8, b"   ", 1)
        return msgspec.json.decode(data, type=list[msgspec.Raw])

    def _wrong(self, number: int, problem: str) -> DatabaseError:
        """The complaint about an entry (from 0), at the place where it begins."""
        raw, at = self._raw(), 0
        for text in raw[:number]:
            at = self._data.index(bytes(text), at) + len(bytes(text))
        place = self._place(self._data.index(bytes(raw[number]), at))
        return DatabaseError(f"{place}: entry {number + 1}: {problem}")

    def _place(self, offset: int) -> str:
        position = LineIndex(self._data).position(offset)
        return f"{self._label}:{position.line}:{position.column}"


def _offset(error: msgspec.MsgspecError, data: bytes) -> int:
    """Where the JSON goes wrong: msgspec says the byte, but not that of the end or of the start."""
    found = re.search(r" \(byte (\d+)\)$", str(error))
    if found:
        return min(int(found[1]), len(data))
    return len(data) if "truncated" in str(error) else 0


def _said(error: Exception) -> str:
    """The words of an error without msgspec's way to say where."""
    text = re.sub(r" \(byte \d+\)$", "", str(error)).replace("`", "'")
    text = re.sub(r" - at '\$\.?(.+)'$", r" at '\1'", text)
    if text == "Input data was truncated":
        return "the JSON ends too early"
    text = re.sub("'(str|int|array|object)'", lambda word: _WORDS[word[1]], text)
    return text[0].lower() + text[1:] if not text.startswith("JSON") else text
