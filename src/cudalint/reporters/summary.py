"""The last lines of a run's text: what was found, what was analysed, what was not."""

from __future__ import annotations

from collections import Counter

from cudalint.finding import Level
from cudalint.run import Run


def found(run: Run) -> str:
    """How many findings of each level, fixes and suppressions; "" when there is nothing to say."""
    levels = Counter(finding.level for finding in run.findings)
    parts = [counted(levels[level], level.value) for level in Level if levels[level]]
    fixable = sum(f.fix is not None and f.fix.safe for f in run.findings)
    line = ", ".join(parts)
    if fixable:
        line += f"; {fixable} with a safe fix [*]"
    if run.suppressed:
        line += f"{'; ' if line else ''}{len(run.suppressed)} suppressed"
    return line


def analysed(run: Run) -> str:
    """What the run covered and skipped: "248 kernels in 41 files; CU5 skipped (no nvcc)"."""
    counts = run.counts
    covered = f"{counted(counts.kernels, 'kernel')} in {counted(counts.files, 'file')}"
    if run.shard is not None:
        covered += f", shard {run.shard}"
    return "; ".join((covered, *map(str, run.skips)))


def counted(number: int, noun: str) -> str:
    """The number with its noun: "1 file", "2 files"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
