"""The last lines of a run's text: what was found, what was analysed, what was not."""

from __future__ import annotations

from collections import Counter

from cudalint.finding import Level
from cudalint.run import Run


def found(run: Run) -> str:
    """How many findings of each level, fixes and suppressions; "" when there is nothing to say."""
    levels = Counter(finding.level for finding in run.findings)
    parts = [counted(levels[level], level.value) for level in Level if levels[level]]
    aside = (
        (len(run.suppressed), "suppressed"),
        (len(run.baselined), "in the baseline"),
        (run.unchanged, "in unchanged code"),
    )
    said = [f"{number} {what}" for number, what in aside if number]
    return "; ".join(filter(None, [", ".join(parts) + _fixable(run), *said]))


def closing(run: Run, limit: int | None) -> list[str]:
    """What stands between the findings, of which `limit` are shown, and the last line."""
    return [*withheld(run, limit), *filter(None, [found(run)])]


def withheld(run: Run, limit: int | None) -> list[str]:
    """How many findings are not shown where only `limit` are; nothing when all are."""
    left = 0 if limit is None else len(run.findings) - limit
    return (
        [f"{counted(left, 'more finding')} not shown (--max-findings {limit})"] if left > 0 else []
    )


def _fixable(run: Run) -> str:
    """How many findings can be mended, and how."""
    fixes = [finding.fix for finding in run.findings if finding.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    unsafe = len(fixes) - safe
    line = f"; {safe} fixable with --fix [*]" if safe else ""
    if unsafe:
        line += (
            f"{',' if safe else ';'} {unsafe} {'more' if safe else 'fixable'} with --unsafe-fixes"
        )
    return line


def analysed(run: Run) -> str:
    """What the run covered and skipped: "248 kernels in 41 files; CU5 skipped (no nvcc)".

    Of one that failed it says so first, since its counts may be those of a part.
    """
    counts = run.counts
    covered = f"{counted(counts.kernels, 'kernel')} in {counted(counts.files, 'file')}"
    if run.shard is not None:
        covered += f", shard {run.shard}"
    failed = ("the run failed",) if run.exit_code == 2 else ()
    return "; ".join((*failed, covered, *map(str, run.skips)))


def counted(number: int, noun: str) -> str:
    """The number with its noun: "1 file", "2 files"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
