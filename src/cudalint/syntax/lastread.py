"""Reading files again after a change, from what was read before the change.

That is for an editor, where it saves most of the time of a keystroke: a file that is as
it was has the model that it had, and one that has changed is parsed from the tree that
it had. The tree of broken code may be another than that of a fresh parse, since the
parser mends it from where it starts; so nothing that is read like this goes into the
cache, and whoever reads like this reads afresh once the typing pauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Tree

    from cudalint.syntax.model import FileModel

Place = tuple[str, int]
"""A file, and the number of one of the texts that it is parsed as."""


class LastRead:
    """The models of files, and the trees of their texts, as they were read last.

    `afresh` says that there is nothing yet to read from.
    """

    def __init__(self) -> None:
        self.afresh = True
        self._models: dict[str, tuple[bytes, FileModel]] = {}
        self._trees: dict[Place, tuple[bytes, Tree]] = {}
        self._old: dict[Place, tuple[bytes, Tree]] = {}
        self._at: Place = ("", 0)

    def begin(self) -> None:
        """What is kept from now on is for the next run; what was kept is for this one."""
        self.afresh = not self._models
        self._old, self._trees = self._trees, {}

    def model(self, path: str, data: bytes) -> FileModel | None:
        """The model of a file that is as it was, and keep its trees; None for any other."""
        before = self._models.get(path)
        if before is None or before[0] != data:
            return None
        self._trees |= {at: kept for at, kept in self._old.items() if at[0] == path}
        return before[1]

    def keep_models(self, models: Mapping[str, FileModel], contents: Mapping[str, bytes]) -> None:
        """Keep these, with the contents that they are of, and no others."""
        self._models = {path: (contents[path], model) for path, model in models.items()}

    def start(self, path: str) -> None:
        """The texts that come are those of the file at `path`, always in the same order."""
        self._at = (path, 0)

    def old_tree(self, text: bytes) -> Tree | None:
        """The last tree in the place of `text`, told what has changed; None the first time."""
        before = self._old.pop(self._at, None)
        if before is None:
            return None
        _edit(*before, text)
        return before[1]

    def keep_tree(self, text: bytes, tree: Tree) -> None:
        """Keep the tree of the text that was last asked for, and go on to the next."""
        self._trees[self._at] = (text, tree)
        self._at = (self._at[0], self._at[1] + 1)


_CURRENT: ContextVar[LastRead | None] = ContextVar("last_read", default=None)


@contextmanager
def reading_again(last: LastRead) -> Iterator[None]:
    """Inside, files are read from `last`, which then has them as they were read."""
    token = _CURRENT.set(last)
    last.begin()
    try:
        yield
    finally:
        _CURRENT.reset(token)


def last_read() -> LastRead | None:
    """What files are read from; None where they are read afresh, and nothing is kept of them."""
    return _CURRENT.get()


def _edit(old: bytes, tree: Tree, new: bytes) -> None:
    """Tell the tree of `old` that what lies between the common ends was replaced."""
    shorter = min(len(old), len(new))
    start = _common(old, new, shorter)
    tail = _common(old[::-1], new[::-1], shorter - start)
    old_end, new_end = len(old) - tail, len(new) - tail
    points = (_point(old, start), _point(old, old_end), _point(new, new_end))
    tree.edit(start, old_end, new_end, *points)


def _common(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts have in common at their start, up to `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _point(text: bytes, at: int) -> tuple[int, int]:
    return text.count(b"\n", 0, at), at - (text.rfind(b"\n", 0, at) + 1)
