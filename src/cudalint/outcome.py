"""From raw findings to what a run reports: levels, duplicates, order, exit code.

Which findings comments silence is decided between, in `cudalint.suppress`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Finding, Level, Span
from cudalint.run import Notification, RuleInForce, Suppressed

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def in_force(findings: Iterable[Finding], rules: Sequence[RuleInForce]) -> list[Finding]:
    """The findings with the levels that the settings give their rules.

    A message that has a level of its own, other than its rule's, keeps it.
    """
    changed = {
        rule.rule.code: (rule.rule.level, rule.level)
        for rule in rules
        if rule.level != rule.rule.level
    }
    return [_with_level(finding, changed.get(finding.code)) for finding in findings]


def _with_level(finding: Finding, change: tuple[Level, Level] | None) -> Finding:
    if change is None or finding.level != change[0]:
        return finding
    return msgspec.structs.replace(finding, level=change[1])


def distinct(findings: Iterable[Finding], models: Mapping[str, FileModel]) -> list[Finding]:
    """The findings without duplicates, the first of each kept.

    Two are the same when code, span and message are. In the body of a macro
    code and span are enough: there one fault is found at each use of the macro,
    and the one that is kept can be silenced where any of them can.
    """
    bodies = MacroBodies(models)
    kept: dict[tuple[str, Span, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.span, "" if bodies.hold(finding.span) else finding.message)
        first = kept.setdefault(key, finding)
        if first is not finding and not set(finding.extents) <= set(first.extents):
            extents = tuple(dict.fromkeys((*first.extents, *finding.extents)))
            kept[key] = msgspec.structs.replace(first, extents=extents)
    return list(kept.values())


class MacroBodies:
    """Which places lie in the definition of a macro."""

    def __init__(self, models: Mapping[str, FileModel]) -> None:
        self._models = models
        self._known: dict[str, list[tuple[int, int]]] = {}

    def hold(self, span: Span) -> bool:
        """Whether `span` begins in one."""
        ranges = self._ranges(span.path)
        at = bisect_right(ranges, (span.start, 1 << 62)) - 1
        return at >= 0 and ranges[at][0] <= span.start < ranges[at][1]

    def _ranges(self, path: str) -> list[tuple[int, int]]:
        if path not in self._known:
            model = self._models.get(path)
            macros = model.macros if model else ()
            self._known[path] = sorted((m.span.start, m.span.end) for m in macros)
        return self._known[path]


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By path, place and code, and by all else that could tell two runs apart."""
    return tuple(sorted(findings, key=order))


def ordered_suppressed(suppressed: Iterable[Suppressed]) -> tuple[Suppressed, ...]:
    """The same order for the findings that are silenced."""
    return tuple(sorted(suppressed, key=lambda one: order(one.finding)))


def order(finding: Finding) -> tuple[str, int, str, int, str]:
    """The sort key of a finding in all that is reported."""
    span = finding.span
    return span.path, span.start, finding.code, span.end, finding.message


def exit_code(
    findings: Iterable[Finding],
    notifications: Iterable[Notification],
    *,
    strict: bool = False,
    exit_zero: bool = False,
) -> int:
    """0, 1 for findings that fail the run, 2 when the run itself failed.

    Notes fail it under `strict` only; `exit_zero` makes findings count for nothing.
    """
    if any(notification.level is Level.ERROR for notification in notifications):
        return 2
    failing = any(strict or finding.level is not Level.NOTE for finding in findings)
    return 1 if failing and not exit_zero else 0
