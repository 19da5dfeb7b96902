"""What git leaves out: nested .gitignore files and .git/info/exclude.

A deeper file beats one further up, as git has it. Global ignore files of the
user are not read: the result must not depend on who runs the linter.
"""

from __future__ import annotations

import os

from cudalint.namedfile import read_named
from cudalint.patterns import Patterns


class GitIgnore:
    """The ignore files that apply below one folder; immutable, grown by `entering`."""

    def __init__(self, layers: tuple[tuple[str, Patterns], ...] = ()) -> None:
        self._layers = layers

    @classmethod
    def above(cls, folder: str, top: str) -> GitIgnore:
        """The ignore files from the repository's root (else from `top`) down to `folder`.

        `folder` itself is not included. Files that would ignore `folder` are
        left out, since it was asked for by name.
        """
        chain = _folders_above(folder, top)
        found = cls()
        for parent in chain:
            found = found.entering(parent)
            if found.ignores(folder, folder=True):
                found = cls()
        return found

    def entering(self, folder: str) -> GitIgnore:
        """The same with the ignore files of `folder` (absolute) on top."""
        layers = self._layers
        for name in (".git/info/exclude", ".gitignore"):
            lines = _lines(os.path.join(folder, name))
            if lines:
                layers = (*layers, (folder.rstrip("/") + "/", Patterns(lines)))
        return self if layers is self._layers else GitIgnore(layers)

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Whether `path` (absolute) is left out."""
        for base, patterns in reversed(self._layers):
            decision = patterns.decide(path[len(base) :], folder=folder)
            if decision is not None:
                return decision
        return False


def _folders_above(folder: str, top: str) -> list[str]:
    """The folders above `folder`, outermost first, down from the repository or `top`."""
    above: list[str] = []
    at = folder
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return [path for path in above if path == top or path.startswith(top + "/")]
        above.insert(0, parent)
        at = parent
    return above


def _lines(path: str) -> list[str]:
    try:
        lines = read_named(path).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        # An ignore file that is absent or can't be read ignores nothing, as in git.
        return []
    return [line for line in lines if line.strip() and not line.startswith("#")]
