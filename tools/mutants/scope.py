"""Which tests are asked about a module: its own, not all that happen to run it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

# Where the tests of rules are that may be asked: those that call the code themselves.
# Tests that start cudalint as a program see the file on the disk, not the mutant.
_OF_RULES = (
    "tests/test_cases.py",
    "tests/test_examples.py",
    "tests/test_launch_path_examples.py",
    "tests/test_snapshots.py",
    "tests/property/test_fixes_of_rules.py",
    "tests/unit/compile",
    "tests/unit/constants",
    "tests/unit/device",
    "tests/unit/fixes",
    "tests/unit/project",
    "tests/unit/resources",
    "tests/unit/rules",
    "tests/unit/runner/test_runner.py",
    "tests/unit/semantics",
    "tests/unit/suppress",
    "tests/unit/tree",
)
# Those that say most of a rule in the least time.
QUICK = (
    "tests/test_snapshots.py",
    "tests/test_examples.py",
    "tests/unit/rules/test_edges.py",
    "tests/unit/rules/test_tables.py",
)
_OF_FOLDERS = {
    "tree": ("tests/test_cases.py", "tests/test_examples.py", "tests/unit/tree"),
    "compile": ("tests/test_examples.py", "tests/unit/compile", "tests/unit/resources"),
}
_EXAMPLES = {"tree": "CU4", "compile": "CU5"}
_CODE = re.compile(r"cu\d{3}")


def code_of(path: str) -> str:
    """The code of the rule in the file `path`; "" if it holds none."""
    found = _CODE.match(PurePosixPath(path).name)
    return found[0].upper() if found else ""


def scope(path: str) -> Callable[[str, str], bool]:
    """Whether a test, by its id and its file's text, is one of the module at `path`.

    A rule's are its examples, the cases, the tests of rules in general, and what
    names it; a tree's or compiler's are the tests of that folder and the examples of
    the rules on it.
    """
    code = code_of(path)
    if code:
        folders: tuple[str, ...] = ("tests/test_cases.py", "tests/unit/rules/")
        return lambda test, text: code in test or code in text or test.startswith(folders)
    folder = PurePosixPath(path).parent.name
    folders = tuple(name for name in _OF_FOLDERS[folder] if name != "tests/test_examples.py")
    return lambda test, text: test.startswith(folders) or _EXAMPLES[folder] in test


def collected(paths: set[str]) -> list[str]:
    """The files and folders of tests in which the modules' are."""
    found: dict[str, None] = {}
    for path in sorted(paths):
        folder = PurePosixPath(path).parent.name
        found |= dict.fromkeys(_OF_RULES if code_of(path) else _OF_FOLDERS[folder])
    return list(found)
