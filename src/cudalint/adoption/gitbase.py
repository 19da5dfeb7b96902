"""What git holds of a project at the merge base with a commit.

Git is run with argument lists and asked for objects alone. It never looks at
the work tree, where filters and monitors would run, and writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import msgspec

from cudalint.settings.origin import SettingsError

_TIMEOUT = 120
"""Seconds that one command of git may take."""

_ASIDE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")


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
        return _git(self.top, "cat-file", "blob", object_)


def find_base(root: Path, revision: str) -> GitBase:
    """The merge base of HEAD and `revision` in the repository around `root`.

    Raises SettingsError with one line when there is none.
    """
    top = Path(os.path.realpath(os.fsdecode(_line(root, "rev-parse", "--show-toplevel"))))
    # With --end-of-options nothing in a revision can be taken for an option.
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        wanted = _line(root, *asked).decode()
    except SettingsError:
        raise SettingsError(f"--diff-base: git knows no commit '{revision}'") from None
    try:
        commit = _line(root, "merge-base", wanted, "HEAD").decode()
    except SettingsError:
        why = "a shallow clone has to be deepened for it"
        said = f"--diff-base: there is no merge base of '{revision}' and HEAD ({why})"
        raise SettingsError(said) from None
    return GitBase(top, commit, _files(top, commit), _renamed(top, commit))


def same_content(object_: str, data: bytes) -> bool:
    """Whether `data` is what the object holds, line ends aside."""
    hashing = hashlib.sha1 if len(object_) == 40 else hashlib.sha256
    texts = {data, data.replace(b"\r\n", b"\n")}
    ids = (hashing(b"blob %d\0" % len(text) + text, usedforsecurity=False) for text in texts)
    return any(id_.hexdigest() == object_ for id_ in ids)


def _files(top: Path, commit: str) -> dict[str, str]:
    listing = _git(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    files = {}
    for entry in listing.split(b"\0"):
        words, _, path = entry.partition(b"\t")
        if path and words.split()[1] == b"blob":
            files[os.fsdecode(path)] = words.split()[2].decode()
    return files


def _renamed(top: Path, commit: str) -> dict[str, str]:
    said = _git(
        top, "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--no-ext-diff", commit, "HEAD"
    )
    words = [os.fsdecode(word) for word in said.split(b"\0")]
    # Each rename is three words: what became of it, its old path and its new one.
    return dict(zip(words[2::3], words[1::3], strict=True))


def _line(folder: Path, *arguments: str) -> bytes:
    return _git(folder, *arguments).removesuffix(b"\n")


def _git(folder: Path, *arguments: str) -> bytes:
    """What a command of git prints. Raises SettingsError."""
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        done = subprocess.run(
            ["git", "--no-pager", *_ASIDE, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise SettingsError("--diff-base needs git, and there is none") from None
    except subprocess.TimeoutExpired:
        raise SettingsError(f"--diff-base: git took more than {_TIMEOUT} s") from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = lines[0].removeprefix("fatal: ") if lines else f"exit code {done.returncode}"
        raise SettingsError(f"--diff-base: git says: {said}")
    return done.stdout
