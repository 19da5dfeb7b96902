"""Findings for people: a headline, the source line with the span marked, other places.

src/a.cu:12:3: error CU302 Message. [event-record-without-stream]
   |
12 |   cudaEventRecord(done);
   |   ^^^^^^^^^^^^^^^
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.finding import Finding, Related
from cudalint.reporters.colour import Paint, painter
from cudalint.reporters.summary import analysed, closing
from cudalint.run import Run

if TYPE_CHECKING:
    from cudalint.reporters.headline import Headlines


def text(
    run: Run,
    *,
    colour: bool = False,
    limit: int | None = None,
    statistics: bool = False,
    quiet: bool = False,
) -> str:
    """The findings of `run` with their source, the counts, and what was analysed last.

    `colour` puts ANSI codes in. `limit` is the most findings that are shown,
    `statistics` shows how many there are of each rule instead, `quiet` leaves
    out what is no finding. Columns count characters.
    """
    paint = painter(colour)
    pieces: list[str] = []
    if statistics:
        from cudalint.reporters.statistics import statistics as counts_of_rules

        pieces += counts_of_rules(run, paint)
    elif run.findings:
        from cudalint.reporters.headline import Headlines

        lines = Headlines(run, paint)
        for finding in run.findings[:limit]:
            pieces += _finding(finding, lines, paint)
            pieces.append("")
    if not quiet:
        pieces += (paint(line, "bold") for line in closing(run, None if statistics else limit))
        pieces.append(analysed(run))
    return "".join(f"{piece}\n" for piece in pieces)


def _finding(finding: Finding, lines: Headlines, paint: Paint) -> Iterator[str]:
    """The lines of one finding."""
    from cudalint.reporters.excerpt import excerpt
    from cudalint.reporters.headline import STYLES
    from cudalint.reporters.visible import visible

    yield lines.headline(finding)
    places = [(finding.span, None), *((related.span, related) for related in finding.related)]
    last = max(lines.index(s.path).position(max(s.start, s.end)).line for s, _ in places)
    gutter = len(str(last))
    for span, related in places:
        yield from () if related is None else _label(related, lines, gutter, paint)
        if not lines.has_text(span.path):
            continue
        index = lines.index(span.path)
        mark, style = ("^", STYLES[finding.level]) if related is None else ("-", "blue")
        yield from excerpt(index, span.start, span.end, mark, style, gutter, paint)
    for number, step in enumerate(finding.flow, 1):
        place = lines.place(step.span.path, step.span.start)
        yield f" {' ' * gutter} {paint('=', 'blue')} step {number}: {place}: {visible(step.label)}"
    if finding.fix is not None:
        kind = "fix" if finding.fix.safe else "unsafe fix"
        yield f" {' ' * gutter} {paint('=', 'blue')} {kind}: {visible(finding.fix.title)}"


def _label(related: Related, lines: Headlines, gutter: int, paint: Paint) -> Iterator[str]:
    """The line above a related place."""
    from cudalint.reporters.visible import visible

    place = lines.place(related.span.path, related.span.start)
    yield f" {' ' * gutter}{paint('::', 'blue')} {place}: {visible(related.label)}"
