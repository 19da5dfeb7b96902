"""Markdown for a comment on a pull request, never longer than a comment may be.

The first line is a comment of HTML by which a bot finds the comment of the last
run again. What would make it too long is left out from the end, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from cudalint.finding import Finding, Level
from cudalint.reporters.markup import markdown as prose
from cudalint.reporters.markup import markdown_code
from cudalint.reporters.reported import Reported
from cudalint.reporters.summary import analysed, counted, found
from cudalint.reporters.visible import visible
from cudalint.run import Run

LONGEST = 65_536
"""The most characters of a comment on GitHub; other forges allow more."""

MARKER = "<!-- cudalint -->"

_LINE = 300
"""The most characters of a line of source that are shown."""

_RESERVED = 200
"""What is kept free for the line that tells what was left out."""


def markdown(run: Run) -> str:
    """The findings of `run` by file, each with its line, as far as they fit."""
    reported = Reported(run)
    head = _head(run, reported)
    room = LONGEST - len(head) - _RESERVED
    pieces: list[str] = []
    told = 0
    for piece, findings in _pieces(run, reported):
        if len(piece) > room:
            break
        pieces.append(piece)
        room -= len(piece)
        told += findings
    left = run.findings[told:]
    if left:
        files = counted(len({finding.span.path for finding in left}), "file")
        pieces.append(
            f"\n**{counted(len(left), 'more finding')} in {files} left out:** "
            "a comment may be no longer.\n"
        )
    return head + "".join(pieces)


def _head(run: Run, reported: Reported) -> str:
    """The counts, what was analysed, and what made the run fail."""
    parts = [MARKER, f"### cudalint: {_prose(found(run) or 'no findings')}", _short(analysed(run))]
    problems = reported.problems
    parts += [f"**error**: {_short(problem.message)}" for problem in problems[:5]]
    if len(problems) > 5:
        parts.append(f"{len(problems) - 5} more errors of the run are left out.")
    return "\n\n".join(parts) + "\n"


def _pieces(run: Run, reported: Reported) -> Iterator[tuple[str, int]]:
    """The parts that go in whole or not at all, each with the number of findings it tells.

    The heading of a file goes in with its first finding.
    """
    for path, findings in groupby(run.findings, key=lambda finding: finding.span.path):
        heading = f"\n#### {_name(reported.path(path))}\n\n"
        for finding in findings:
            yield heading + _finding(finding, reported), 1
            heading = ""


def _finding(finding: Finding, reported: Reported) -> str:
    """The item of one finding, with the first of its lines."""
    place = reported.range(finding.span).start
    address = reported.address(finding.code)
    code = f"[{finding.code}]({address})" if address else finding.code
    level = finding.level.value
    shown = f"**{level}**" if finding.level is not Level.NOTE else level
    name = reported.rule_name(finding.code)
    name = name if re.fullmatch(r"[a-z0-9-]+", name) else _prose(name)
    item = f"- {place.line}:{place.column} {shown} {code} {name}: {_short(finding.message)}\n"
    line = reported.index(finding.span.path).text(place.line).strip()
    return item + (_fenced(line) if line else "")


def _fenced(line: str) -> str:
    """A line of source as a block of the list's item."""
    shown = visible(line[:_LINE]).expandtabs(4) + ("…" if len(line) > _LINE else "")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"\n  {fence}cuda\n  {shown}\n  {fence}\n"


def _short(text: str) -> str:
    """Prose of no more than a screen; the message of a plugin may be of any length."""
    return _prose(text if len(text) <= 1000 else f"{text[:1000]}…")


def _name(path: str) -> str:
    return markdown_code(path if len(path) <= 500 else f"…{path[-500:]}")


def _prose(text: str) -> str:
    """`text` as prose that also calls nobody and links to no issue.

    A forge looks for `@name` and `#1` in the finished text, where an escape is gone.
    """
    return re.sub(r"(&#(?:35|64);)(?=\w)", r"\1<!-- -->", prose(text))
