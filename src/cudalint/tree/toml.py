"""TOML with places: what a document says, and where each key and value of it stands.

Python's own TOML reader says what is valid and what a value is; tree-sitter-toml
says where it is. What the keys mean is `cudalint.tree.manifest`.
"""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.finding import Span

if TYPE_CHECKING:
    from tree_sitter import Node

Step = str | int
Path = tuple[Step, ...]


class Item(msgspec.Struct, frozen=True):
    """A key with its value; the document itself has an empty key span.

    `value` is the plain Python value. `table` holds the items of a table in
    their order, else it is None; `elements` those of an array, likewise.
    """

    key_span: Span
    span: Span
    value: Any
    table: dict[str, Item] | None = None
    elements: tuple[Item, ...] | None = None


class SyntaxFault(msgspec.Struct, frozen=True):
    """Why a file is no TOML: where, and in the reader's words (no place, no final period)."""

    span: Span
    problem: str


def read_toml(path: str, data: bytes) -> Item | SyntaxFault:
    """Read the document `data`; `path` is for the spans only."""
    start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    body = data[start:]
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return SyntaxFault(Span(path, start + error.start, start + error.end), "it is not UTF-8")
    loads, decode_error = _reader()
    try:
        places = _Places(path, body, start)
        try:
            values = loads(text)
        except decode_error as error:
            return _syntax_fault(path, data, start, str(error), places)
        return places.item((), values)
    except RecursionError:
        return SyntaxFault(Span(path, 0, 0), "it is nested too deeply")


def kind_of(value: object) -> str:
    """The name of a value's TOML type, as a message says it: "a string", "an array"."""
    if isinstance(value, bool):
        return "a boolean"
    names: dict[type, str] = {
        str: "a string",
        int: "an integer",
        float: "a float",
        list: "an array",
        dict: "a table",
    }
    return names.get(type(value), "a date or time")


def _reader() -> tuple[Any, type[ValueError]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads, tomllib.TOMLDecodeError


def _syntax_fault(path: str, data: bytes, start: int, message: str, places: _Places) -> SyntaxFault:
    problem, _, place = message.partition(" (at ")
    offset, width = _offset(data, start, place)
    if problem.startswith(("Cannot ", "Duplicate ")):  # the reader stops behind the statement
        return SyntaxFault(places.statement_before(offset), problem)
    return SyntaxFault(Span(path, offset, offset + width), problem)


def _offset(data: bytes, start: int, place: str) -> tuple[int, int]:
    """The byte offset of "line 1, column 2" or of the end, and how long the character there is."""
    match = re.match(r"line (\d+), column (\d+)", place)
    if match is None:
        return len(data.rstrip()), 0
    lines = data[start:].split(b"\n")
    line, column = int(match[1]), int(match[2])
    here = lines[line - 1].decode("utf-8")
    before = start + sum(len(text) + 1 for text in lines[: line - 1])
    width = len(here[column - 1 : column].encode("utf-8"))
    return before + len(here[: column - 1].encode("utf-8")), width


class _Places:
    """The spans of a document's keys and values, by their path through the tables."""

    def __init__(self, path: str, body: bytes, start: int) -> None:
        import tree_sitter_toml
        from tree_sitter import Language, Parser

        self._path = path
        self._start = start
        self._whole = Span(path, 0, 0)
        self._keys: dict[Path, Span] = {}
        self._values: dict[Path, Span] = {}
        self._arrays: dict[Path, int] = {}
        self._statements: list[tuple[int, Span]] = []
        tree = Parser(Language(tree_sitter_toml.language())).parse(body)
        for node in tree.root_node.named_children:
            if node.type == "pair":
                self._pair((), node)
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def item(self, at: Path, value: Any) -> Item:
        """The item of `value`, found at the path `at`, with all that is inside."""
        key_span = self._keys.get(at, self._whole)
        span = self._values.get(at, key_span)
        if isinstance(value, dict):
            table = {key: self.item((*at, key), inner) for key, inner in value.items()}
            return Item(key_span, span, value, table=table)
        if isinstance(value, list):
            elements = tuple(self.item((*at, n), inner) for n, inner in enumerate(value))
            return Item(key_span, span, value, elements=elements)
        return Item(key_span, span, value)

    def statement_before(self, offset: int) -> Span:
        """The key of the last pair or table header that starts at or before `offset`."""
        before = [key for start, key in self._statements if start <= offset]
        return before[-1] if before else Span(self._path, offset, offset)

    def _table(self, node: Node) -> None:
        keys = [child for child in node.named_children if child.type in _KEYS]
        if not keys:
            return
        at = self._enter((), keys[0])
        if node.type == "table_array_element":
            count = self._arrays.get(at, 0)
            self._arrays[at] = count + 1
            at = (*at, count)
            self._keys[at] = self._span(keys[0])
        self._values[at] = self._span(node)
        for child in node.named_children:
            if child.type == "pair":
                self._pair(at, child)

    def _pair(self, prefix: Path, node: Node) -> None:
        children = [child for child in node.named_children if child.type != "comment"]
        if len(children) != 2 or children[0].type not in _KEYS:
            return
        at = self._enter(prefix, children[0])
        self._value(at, children[1])

    def _value(self, at: Path, node: Node) -> None:
        self._values[at] = self._span(node)
        if node.type == "array":
            elements = [child for child in node.named_children if child.type != "comment"]
            for number, element in enumerate(elements):
                inner: Path = (*at, number)
                self._keys[inner] = self._span(element)
                self._value(inner, element)
        elif node.type == "inline_table":
            for child in node.named_children:
                if child.type == "pair":
                    self._pair(at, child)

    def _enter(self, prefix: Path, node: Node) -> Path:
        """The path that the key `node` leads to; each key on the way gets its place."""
        at = prefix
        self._statements.append((self._start + node.start_byte, self._span(node)))
        for part in _parts(node):
            if at in self._arrays:
                at = (*at, self._arrays[at] - 1)
            at = (*at, _key_text(part))
            self._keys.setdefault(at, self._span(part))
        return at

    def _span(self, node: Node) -> Span:
        return Span(self._path, self._start + node.start_byte, self._start + node.end_byte)


_KEYS = ("bare_key", "quoted_key", "dotted_key")


def _parts(node: Node) -> list[Node]:
    if node.type != "dotted_key":
        return [node]
    return [part for child in node.named_children for part in _parts(child)]


def _key_text(node: Node) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "bare_key":
        return text
    loads, decode_error = _reader()
    try:
        keys = list(loads(f"{text} = 0"))
    except decode_error:
        return text
    # What the grammar takes for a key in a document with faults may be a comment, or several.
    return str(keys[0]) if len(keys) == 1 else text
