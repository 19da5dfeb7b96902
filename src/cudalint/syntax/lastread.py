"""Reading files again after a change, from what was read before the change.

That is for an editor, where it saves most of the time of a keystroke: which files there
are is not looked up, and one that is as it was has the model that it had. One that has
changed is parsed from the tree that it had, and only what has changed is read out of that
(`cudalint.syntax.again`). The tree of broken code may be another than that of a fresh
parse, since the parser mends it from where it starts; so nothing that is read like this
goes into the cache, and whoever reads like this calls `settle` once the typing pauses,
and reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from cudalint.syntax.difference import common_ends

if TYPE_CHECKING:
    from tree_sitter import Tree

    from cudalint.syntax.model import FileModel
    from cudalint.syntax.prepare import Text
    from cudalint.syntax.raw import Raw

Made = TypeVar("Made")
Place = tuple[str, int]
"""A file, and the number of one of the texts that it is parsed as."""


class Read(msgspec.Struct, frozen=True):
    """What was read of a text, and `ground`: what that depends on beside the text."""

    ground: tuple[object, ...]
    text: Text
    raw: Raw


class Change(msgspec.Struct, frozen=True):
    """What was read of the text that was there before, and where the two trees differ."""

    before: Read
    differing: tuple[tuple[int, int], ...]


class _Kept(msgspec.Struct):
    """A text with its tree; `change` is what it comes from, where that was read."""

    text: bytes
    tree: Tree
    read: Read | None = None
    change: Change | None = None


class LastRead:
    """The files there are, their models, and the trees of their texts, as they were read last.

    `afresh` says that the next run uses no old tree: it is the first, or they are settled.
    """

    def __init__(self) -> None:
        self.afresh = True
        self._models: dict[str, tuple[bytes, FileModel]] = {}
        self._texts: dict[Place, _Kept] = {}
        self._old: dict[Place, _Kept] = {}
        self._made: dict[str, tuple[object, object]] = {}
        self._mended: set[str] = set()
        self._lines: dict[bytes, bytes] = {}
        self._at: Place = ("", 0)

    def settle(self) -> None:
        """Forget what was read from old trees: the next run reads it afresh."""
        self.afresh = True
        for path in self._mended:
            self._models.pop(path, None)
        self._mended.clear()

    def begin(self) -> None:
        """What is kept from now on is for the next run; what was kept is for this one."""
        self._old, self._texts = self._texts, {}

    def end(self) -> None:
        """Let go of what was kept for the run that is over; the next may use what it read."""
        self._old = {}
        self.afresh = not (self._texts or self._models)

    def made(
        self, name: str, of: object, make: Callable[[], Made], *, of_disk: bool = False
    ) -> Made:
        """What `make` has made last time of something equal; else it makes that now.

        `of` is all that it depends on, but for the disk (`of_disk`), which is only looked
        at afresh.
        """
        before = self._made.get(name)
        if before is None or (of_disk and self.afresh) or before[0] != of:
            before = self._made[name] = (of, make())
        return cast("Made", before[1])

    def model(self, path: str, data: bytes) -> FileModel | None:
        """The model of a file that is as it was, and keep its trees; None for any other."""
        before = self._models.get(path)
        if before is None or before[0] != data:
            return None
        self._texts |= {at: kept for at, kept in self._old.items() if at[0] == path}
        return before[1]

    def keep_models(self, models: Mapping[str, FileModel], contents: Mapping[str, bytes]) -> None:
        """Keep these, with the contents that they are of, and no others."""
        self._models = {path: (contents[path], model) for path, model in models.items()}

    def start(self, path: str) -> None:
        """The texts that come are those of the file at `path`, always in the same order."""
        self._at = (path, 0)

    def old_tree(self, text: bytes) -> Tree | None:
        """The last tree in the place of `text`, told what has changed; None the first time."""
        before = None if self.afresh else self._old.get(self._at)
        if before is None:
            return None
        self._mended.add(self._at[0])
        _edit(before.text, before.tree, text)
        return before.tree

    def reader(self, text: bytes) -> Callable[[int, object], bytes]:
        """What gives the parser `text` line by line, the same object for the same line.

        py-tree-sitter 0.26 never lets go of what it is given: else each keystroke would
        leave all of the text behind.
        """
        lines = self._lines

        def read(at: int, _: object) -> bytes:
            end = text.find(b"\n", at) + 1
            line = text[at:end] if end else text[at:]
            return lines.setdefault(line, line)

        return read

    def keep_tree(self, text: bytes, tree: Tree) -> None:
        """Keep the tree of the text that was last asked for, and go on to the next."""
        before = None if self.afresh else self._old.pop(self._at, None)
        kept = _Kept(text, tree)
        if before is not None and before.read is not None:
            ranges = before.tree.changed_ranges(tree)
            differing = tuple((one.start_byte, one.end_byte) for one in ranges)
            kept.change = Change(before.read, differing)
        self._texts[self._at] = kept
        self._at = (self._at[0], self._at[1] + 1)

    def change(self, number: int) -> Change | None:
        """What the text with this number of the file at hand was, if it was read before."""
        kept = self._texts.get((self._at[0], number))
        return kept.change if kept else None

    def keep_read(self, number: int, read: Read) -> None:
        """Keep what was read of the text with this number, where its tree is kept."""
        kept = self._texts.get((self._at[0], number))
        if kept:
            kept.read, kept.change = read, None


_CURRENT: ContextVar[LastRead | None] = ContextVar("last_read", default=None)


@contextmanager
def reading_again(last: LastRead) -> Iterator[None]:
    """Inside, files are read from `last`, which then has them as they were read."""
    token = _CURRENT.set(last)
    last.begin()
    try:
        yield
    finally:
        last.end()
        _CURRENT.reset(token)


def last_read() -> LastRead | None:
    """What files are read from; None where they are read afresh, and nothing is kept of them."""
    return _CURRENT.get()


def _edit(old: bytes, tree: Tree, new: bytes) -> None:
    """Tell the tree of `old` that what lies between the common ends was replaced."""
    start, tail = common_ends(old, new)
    old_end, new_end = len(old) - tail, len(new) - tail
    points = (_point(old, start), _point(old, old_end), _point(new, new_end))
    tree.edit(start, old_end, new_end, *points)


def _point(text: bytes, at: int) -> tuple[int, int]:
    return text.count(b"\n", 0, at), at - (text.rfind(b"\n", 0, at) + 1)
