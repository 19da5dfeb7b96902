"""The output formats there are, each a module of this package with a function of its name.

A module is imported when its format is asked for: most runs need one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudalint.run import Run

FORMATS = {
    "text": "for people: each finding with its source",
    "concise": "one line for each finding",
    "sarif": "SARIF 2.1.0, for code scanning and editors",
    "json": "one JSON document, suppressed findings and all",
    "json-lines": "one JSON record on each line",
    "markdown": "a comment on a pull request, kept under its size limit",
    "html": "one page for the browser, with source, filters and call chains",
    "github": "workflow commands, which GitHub shows as annotations",
    "gitlab": "GitLab's code quality report",
    "junit": "JUnit XML, for build servers",
    "rdjson": "reviewdog's diagnostic format",
}
"""Each format's name and what it is for, in the order of the help."""

FOR_PEOPLE = ("text", "concise")
"""The formats that are read beside stderr, and leave to it what the run says of itself."""


def report(name: str, run: Run, **choices: Any) -> str:
    """`run` in the format of that name.

    `choices` may name what any format can be told (`colour`, `limit`, ...); each
    takes those that are keywords of its function.
    """
    word = name.replace("-", "_")
    reporter: Callable[..., str] = getattr(import_module(f"cudalint.reporters.{word}"), word)
    known = getattr(reporter, "__kwdefaults__", None) or {}
    return reporter(run, **{key: choices[key] for key in known if key in choices})
