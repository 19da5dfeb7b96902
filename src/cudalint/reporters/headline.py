"""The one line that names a finding: place, level, code, message and name."""

from __future__ import annotations

from cudalint.finding import Finding, Level
from cudalint.reporters.colour import Paint
from cudalint.reporters.shownplaces import ShownPlaces
from cudalint.reporters.visible import visible
from cudalint.run import Run

STYLES = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "cyan"}


class Headlines(ShownPlaces):
    """Writes headlines for one run, and keeps the lines of its files."""

    def __init__(self, run: Run, paint: Paint) -> None:
        super().__init__(run.sources, run.root, run.cwd or run.root)
        self._names = {entry.rule.code: entry.rule.name for entry in run.rules}
        self._paint = paint

    def headline(self, finding: Finding) -> str:
        """`path:line:col: level CODE message [name]`, with `[*]` where a safe fix is at hand."""
        paint = self._paint
        place = paint(self.place(finding.span.path, finding.span.start), "bold")
        style = STYLES[finding.level]
        code = paint(finding.code, style)
        fixable = finding.fix is not None and finding.fix.safe
        star = f" {paint('[*]', 'cyan')}" if fixable else ""
        name = paint(f"[{self._names.get(finding.code, 'unknown')}]", "dim")
        message = visible(finding.message).replace("\t", " ")
        return f"{place}: {paint(finding.level.value, style)} {code}{star} {message} {name}"
