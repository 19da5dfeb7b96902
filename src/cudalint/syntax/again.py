"""Reading the texts of a file again: only what has changed of each, where that can be told."""

from __future__ import annotations

from copy import copy

from msgspec import structs
from tree_sitter import Node

from cudalint.syntax.lastread import Read, last_read
from cudalint.syntax.macros import Definition
from cudalint.syntax.part import Part, changed_part
from cudalint.syntax.prepare import Text
from cudalint.syntax.raw import Raw


class Again:
    """The texts of one file, with what was read of them before.

    Nothing was where files are read afresh, and where the file's macros have changed.
    """

    def __init__(self, definitions: list[Definition], shared_words: tuple[bytes, ...]) -> None:
        self._last = last_read()
        self._ground = (
            shared_words,
            *((d.name, d.parameters, d.body, d.literal_body) for d in definitions),
        )
        self._parts: list[Part | None] = []
        self._before: dict[int, Raw] = {}

    def parts(self, texts: list[Text], roots: list[Node]) -> list[Part | None]:
        """What is to be read of each text, whose tree has the root; None for all of it."""
        for number, (text, root) in enumerate(zip(texts, roots, strict=True)):
            part = None
            change = self._last.change(number) if self._last else None
            if change is not None and change.before.ground == self._ground:
                part = changed_part(change.before.text, text, change.differing, root)
                self._before[number] = change.before.raw
            self._parts.append(part)
        return self._parts

    def whole(self, pieces: list[tuple[Raw, Text]]) -> list[tuple[Raw, Text]]:
        """All that is in each text, after its part was read; keep that for the next time."""
        if self._last is None:
            return pieces
        found = []
        for number, (raw, text) in enumerate(pieces):
            part = self._parts[number]
            whole = raw if part is None else part.joined(self._before[number], raw)
            # Others add to what is read, and that is no part of this text.
            own = Raw(*(copy(one) for one in structs.astuple(whole)))
            self._last.keep_read(number, Read(self._ground, text, own))
            found.append((whole, text))
        return found
