"""Where settings stand: the file, and the line and column of each key and value.

Looked up only when something has to be complained of: the reader with places
takes longer than Python's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

Key = str | int
"""A step into a TOML document: a table's key, or an array's index."""


class SettingsError(Exception):
    """The settings can't be used; the text is one line that says where and why."""


class Origin(msgspec.Struct, frozen=True):
    """A settings file: `label` is how messages name it, `table` where the settings begin in it."""

    label: str
    data: bytes
    table: tuple[str, ...] = ()

    def place(self, keys: Sequence[Key], *, value: bool = False) -> str:
        """`file:line:column` of a key (or of its `value`), as far down `keys` as there is one."""
        from cudalint.lines import LineIndex

        offset, _ = _find(self.data, (*self.table, *keys), value)
        position = LineIndex(self.data).position(offset)
        return f"{self.label}:{position.line}:{position.column}"

    def holds(self, keys: Sequence[Key]) -> bool:
        """Whether the file has this key."""
        _, whole = _find(self.data, (*self.table, *keys), value=False)
        return whole


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`; did you mean 'x'?` for the closest of `known`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _find(data: bytes, keys: Sequence[Key], value: bool) -> tuple[int, bool]:
    """The byte offset of the longest prefix of `keys` that the document holds, and if it is all."""
    from cudalint.tree.toml import SyntaxFault, read_toml

    item = read_toml("", data)
    if isinstance(item, SyntaxFault):
        return item.span.start, False
    for key in keys:
        inner = None
        if isinstance(key, str) and item.table is not None:
            inner = item.table.get(key)
        elif isinstance(key, int) and item.elements is not None:
            inner = item.elements[key]
        if inner is None:
            return item.key_span.start, False
        item = inner
    return (item.span if value else item.key_span).start, True
