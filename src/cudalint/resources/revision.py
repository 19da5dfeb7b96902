"""The files of a commit, written to a folder to be compiled there.

They are the objects as they are stored: no filter, no attribute and no text
conversion changes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cudalint.git import GitError, git

_REGULAR = ("100644", "100755")
_LINK = "120000"
_NOT_IN_A_TREE = ("", ".", "..", ".git")


class _Entry(msgspec.Struct, frozen=True):
    mode: str
    id: str
    size: int
    path: str


def export_commit(top: Path, commit: str, into: Path, *, largest: int) -> None:
    """Write the files of `commit`, of the repository at `top`, to the empty folder `into`.

    Left out are files of more than `largest` bytes, submodules, links that lead
    out of the tree, and paths that no git would make. Raises GitError.
    """
    entries = [
        entry
        for entry in _entries(git(top, "ls-tree", "-r", "-l", "-z", "--full-tree", commit))
        if entry.mode in (*_REGULAR, _LINK)
        and entry.size <= largest
        and not any(part in _NOT_IN_A_TREE for part in entry.path.split("/"))
    ]
    asked = "".join(f"{entry.id}\n" for entry in entries).encode()
    answers = git(top, "cat-file", "--batch", given=asked)
    links: list[tuple[Path, bytes]] = []
    for entry, data in zip(entries, _contents(answers), strict=True):
        file = into / entry.path
        file.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == _LINK:
            links.append((file, data))
        else:
            file.write_bytes(data)
    # Last, so that nothing is written through one.
    for file, data in links:
        target = os.fsdecode(data)
        leads = Path(os.path.normpath(file.parent / target))
        if not os.path.isabs(target) and leads.is_relative_to(into):  # noqa: PTH117
            file.symlink_to(target)


def _entries(listing: bytes) -> Iterator[_Entry]:
    for line in listing.split(b"\0"):
        words, _, path = line.partition(b"\t")
        if path:
            mode, _, id_, size = words.decode().split()
            yield _Entry(mode, id_, int(size) if size.isdecimal() else 0, os.fsdecode(path))


def _contents(answers: bytes) -> Iterator[bytes]:
    """The objects that `cat-file --batch` answers with. Raises GitError for a missing one."""
    at = 0
    while at < len(answers):
        end = answers.index(b"\n", at)
        words = answers[at:end].split()
        if len(words) != 3:
            raise GitError(f"git lacks the object {words[0].decode()}: is the clone a partial one?")
        size = int(words[2])
        yield answers[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
