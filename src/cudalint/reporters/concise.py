"""One line for each finding, for editors and scripts."""

from __future__ import annotations

from cudalint.reporters.colour import painter
from cudalint.reporters.headline import Headlines
from cudalint.reporters.summary import analysed
from cudalint.run import Run


def concise(run: Run, *, colour: bool = False) -> str:
    """`path:line:col: level CODE message [name]` for each finding, then what was analysed."""
    lines = Headlines(run, painter(colour))
    return "".join(f"{line}\n" for line in (*map(lines.headline, run.findings), analysed(run)))
