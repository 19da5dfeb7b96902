"""Loads a mutant as a module: for those that change more than the bodies of functions.

A rule's module is loaded beside itself, and its class, which is all that others hold
of it, takes over what the mutant's has. For any other module, everything of cudalint
and its tests is forgotten and imported again, with the mutant in place of its file;
the packages that they use stay.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from inplace import compiled

from cudalint.registry import rules_in


class _Loader(SourceFileLoader):
    """Loads a file with another text than it has."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        super().__init__(name, str(path))
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compiled(Path(self.path), self._text)


class MutantFinder(MetaPathFinder):
    """Finds the one module that is mutated."""

    def __init__(self, path: Path, text: str) -> None:
        parts = path.with_suffix("").parts
        self._name = ".".join(parts[len(parts) - parts[::-1].index("src") :])
        self._path = path
        self._text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the mutated module, None for all others."""
        if fullname != self._name:
            return None
        loader = _Loader(fullname, self._path, self._text)
        return spec_from_file_location(fullname, self._path, loader=loader)


def graft(path: Path, text: str) -> None:
    """Give the rules of a loaded module what those of its mutant have."""
    name = f"cudalint.rules.{path.stem}"
    mutant = ModuleType(name)
    mutant.__file__ = str(path)
    exec(compiled(path, text), vars(mutant))
    for rule in rules_in(sys.modules[name]):
        for key, value in vars(vars(mutant)[rule.__name__]).items():
            if not key.startswith(("__", "_abc_")):
                setattr(rule, key, value)


def forget(root: Path) -> None:
    """Drop the modules of the repository from what is imported, but for these tools."""
    folders = tuple(str(root / folder) + "/" for folder in ("src", "tests", "fuzz"))
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folders):
            del sys.modules[name]
