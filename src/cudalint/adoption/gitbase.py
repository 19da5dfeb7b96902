"""What git holds of a project at the merge base with a commit."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from cudalint.git import GitError, commit_of, git, top_of
from cudalint.settings.origin import SettingsError


class GitBase(msgspec.Struct, frozen=True):
    """The files at `commit`: object ids by path, paths relative to the work tree's real `top`.

    `renamed` maps a path of HEAD to the one that it had there.
    """

    top: Path
    commit: str
    files: dict[str, str]
    renamed: dict[str, str]

    def object_of(self, file: Path) -> str | None:
        """The id of what the absolute `file` held, under whichever name; None for a new file."""
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(self.top):
            return None
        path = real.relative_to(self.top).as_posix()
        return self.files.get(path) or self.files.get(self.renamed.get(path, ""))

    def content(self, object_: str) -> bytes:
        """The bytes of an object. Raises SettingsError."""
        try:
            return git(self.top, "cat-file", "blob", object_)
        except GitError as error:
            raise SettingsError(f"--diff-base: {error}") from None


def find_base(root: Path, revision: str) -> GitBase:
    """The merge base of HEAD and `revision` in the repository around `root`.

    Raises SettingsError with one line when there is none.
    """
    try:
        top = top_of(root)
        commit = _merge_base(root, commit_of(root, revision))
        if not commit:
            why = "a shallow clone has to be deepened for it"
            raise GitError(f"there is no merge base of '{revision}' and HEAD ({why})")
        return GitBase(top, commit, _files(top, commit), _renamed(top, commit))
    except GitError as error:
        raise SettingsError(f"--diff-base: {error}") from None


def _merge_base(root: Path, commit: str) -> str:
    """The merge base of `commit` and HEAD; "" when there is none, for which git exits with 1."""
    return (
        git(root, "merge-base", "--all", commit, "HEAD", may_fail=(1,)).decode().partition("\n")[0]
    )


def same_content(object_: str, data: bytes) -> bool:
    """Whether `data` is what the object holds, line ends aside."""
    hashing = hashlib.sha1 if len(object_) == 40 else hashlib.sha256
    texts = {data, data.replace(b"\r\n", b"\n")}
    ids = (hashing(b"blob %d\0" % len(text) + text, usedforsecurity=False) for text in texts)
    return any(id_.hexdigest() == object_ for id_ in ids)


def _files(top: Path, commit: str) -> dict[str, str]:
    listing = git(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    files = {}
    for entry in listing.split(b"\0"):
        words, _, path = entry.partition(b"\t")
        if path and words.split()[1] == b"blob":
            files[os.fsdecode(path)] = words.split()[2].decode()
    return files


def _renamed(top: Path, commit: str) -> dict[str, str]:
    said = git(
        top, "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--no-ext-diff", commit, "HEAD"
    )
    words = [os.fsdecode(word) for word in said.split(b"\0")]
    # Each rename is three words: what became of it, its old path and its new one.
    return dict(zip(words[2::3], words[1::3], strict=True))
