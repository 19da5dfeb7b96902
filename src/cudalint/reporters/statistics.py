"""How often each rule reports, for a first look at an old tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cudalint.reporters.colour import Paint
from cudalint.reporters.headline import STYLES
from cudalint.reporters.visible import visible
from cudalint.run import Run


def statistics(run: Run, paint: Paint) -> Iterator[str]:
    """A line for each rule and level, the most frequent first: count, level, code, fix, name.

    `[*]` marks those of which at least one finding has a safe fix.
    """
    names = {entry.rule.code: entry.rule.name for entry in run.rules}
    counts = Counter((finding.code, finding.level) for finding in run.findings)
    fixable = {
        (finding.code, finding.level)
        for finding in run.findings
        if finding.fix is not None and finding.fix.safe
    }
    rows = sorted(counts, key=lambda key: (-counts[key], key[0], key[1].value))
    width = len(str(max(counts.values(), default=0)))
    codes = max((len(code) for code, _ in rows), default=0)
    for code, level in rows:
        number = paint(f"{counts[code, level]:>{width}}", "bold")
        style = STYLES[level]
        star = paint("[*]", "cyan") if (code, level) in fixable else "   " if fixable else ""
        name = visible(names.get(code, "unknown"))
        cells = (number, paint(f"{level.value:<7}", style), paint(f"{code:<{codes}}", style))
        yield "  ".join((*cells, *([star] if star else []), name))
