"""Which findings the comments silence, and which suppressions do nothing.

This comes after all other rules, and runs CU002 and CU003 itself, since they
judge what the others found. Levels and order are `cudalint.outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Finding
from cudalint.run import Suppressed
from cudalint.source import SourceFile
from cudalint.suppress.catalogue import Catalogue
from cudalint.suppress.parse import may_suppress

if TYPE_CHECKING:
    from cudalint.rule import SuppressionRule
    from cudalint.suppress.file import FileSuppressor, Ran
    from cudalint.suppress.model import Directive
    from cudalint.suppress.reach import Key, Reach
    from cudalint.syntax.model import FileModel


class Judgement(msgspec.Struct, frozen=True):
    """The findings to show (with those of CU002 and CU003, in no order), and the silenced ones."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]


def judge(
    sources: Mapping[str, SourceFile],
    models: Mapping[str, FileModel],
    findings: Sequence[Finding],
    rules: Sequence[SuppressionRule],
    ran: Ran,
    catalogue: Mapping[str, str],
) -> Judgement:
    """Apply the suppressions in `sources` to `findings`, then judge the suppressions.

    `models` gives the comments of source files; a manifest needs none. `rules`
    are the selected suppression rules; their findings can be silenced as well,
    by a suppression that names them or by a bare word. `catalogue` maps the code
    of every rule that exists to its name.
    """
    names = Catalogue(catalogue)
    files: dict[str, FileSuppressor] = {}
    for path, source in sources.items():
        if may_suppress(source.data):
            from cudalint.suppress.file import FileSuppressor

            file = FileSuppressor(source, models.get(path), names)
            if file.directives:
                files[path] = file
    used: set[tuple[str, Key]] = set()
    kept, suppressed = _apply(files, findings, used)
    own: list[Finding] = []
    for path in sorted(files):
        record = files[path].judged(used, ran, frozenset(rule.code for rule in rules), names)
        own += (found for rule in rules if ran(rule.code, path) for found in rule.check(record))
    own_kept, own_suppressed = _apply(files, own, used)
    return Judgement((*kept, *own_kept), (*suppressed, *own_suppressed))


def _apply(
    files: Mapping[str, FileSuppressor], findings: Iterable[Finding], used: set[tuple[str, Key]]
) -> tuple[list[Finding], list[Suppressed]]:
    """Part `findings` in those that stand and those that are silenced; fill `used`."""
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        by: list[tuple[Reach, Directive]] = []
        for path in {finding.span.path, *(span.path for span in finding.extents)} & files.keys():
            for reach in files[path].over(finding):
                used.add((path, reach.key))
                by.append((reach, files[path].directives[reach.key[0]]))
        if not by:
            kept.append(finding)
            continue
        reach, first = min(by, key=lambda pair: (pair[0].rank, not pair[1].reason, pair[1].span))
        precedence = (reach.rank, first.span.start)
        suppressed.append(Suppressed(finding, first.reason, first.comment, precedence))
    return kept, suppressed
