"""One line for each finding, for editors and scripts."""

from __future__ import annotations

from cudalint.reporters.colour import painter
from cudalint.reporters.headline import Headlines
from cudalint.reporters.statistics import statistics as counts_of_rules
from cudalint.reporters.summary import analysed, withheld
from cudalint.run import Run


def concise(
    run: Run,
    *,
    colour: bool = False,
    limit: int | None = None,
    statistics: bool = False,
    quiet: bool = False,
) -> str:
    """`path:line:col: level CODE message [name]` for each finding, then what was analysed.

    `limit`, `statistics` and `quiet` are those of the text.
    """
    paint = painter(colour)
    if statistics:
        lines = [*counts_of_rules(run, paint)]
    else:
        lines = [*map(Headlines(run, paint).headline, run.findings[:limit])]
        if not quiet:
            lines += withheld(run, limit)
    if not quiet:
        lines.append(analysed(run))
    return "".join(f"{line}\n" for line in lines)
