"""Two resource tables of the same kernels: what changed from one to the other."""

from __future__ import annotations

import msgspec

from cudalint.resources.compare import Change, changes, figures_of, regressions, weight
from cudalint.resources.model import FailedCompile, ResourceRow, ResourceTable


class Changed(msgspec.Struct, frozen=True):
    """A kernel on one arch that is there before and now, with other figures now.

    `changes` are the figures that differ; `worse` says that they are a regression.
    """

    before: ResourceRow
    after: ResourceRow
    changes: tuple[Change, ...]
    worse: bool

    @property
    def word(self) -> str:
        """What became of it, in a word."""
        if self.worse:
            return "worse"
        return "changed" if any(change.worse for change in self.changes) else "better"


class Difference(msgspec.Struct, frozen=True):
    """What changed, the worst first; `unchanged` counts the rest.

    `failures` are the compiles that fail now, `failed_before` those that did.
    """

    changed: tuple[Changed, ...]
    new: tuple[ResourceRow, ...]
    gone: tuple[ResourceRow, ...]
    unchanged: int
    failures: tuple[FailedCompile, ...] = ()
    failed_before: tuple[FailedCompile, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether any kernel is worse, or does not compile any more."""
        return bool(self.failures) or any(one.worse for one in self.changed)


def difference(before: ResourceTable, after: ResourceTable) -> Difference:
    """What changed from `before` to `after`.

    A kernel is the same by file, symbol and arch; of several ways to compile it,
    those for the same targets are compared.
    """
    old: dict[tuple[str, str, str], list[ResourceRow]] = {}
    for row in before.rows:
        old.setdefault(_key(row), []).append(row)
    changed: list[Changed] = []
    new: list[ResourceRow] = []
    unchanged = 0
    for row in after.rows:
        same = _of_targets(old.get(_key(row), []), row)
        if same is None:
            new.append(row)
            continue
        found = changes(figures_of(same), figures_of(row))
        if found:
            worse = bool(regressions(figures_of(same), figures_of(row)))
            changed.append(Changed(same, row, found, worse))
        else:
            unchanged += 1
    present = {_key(row) for row in after.rows}
    gone = tuple(row for row in before.rows if _key(row) not in present)
    changed.sort(key=lambda one: (one.worse, weight(one.changes)), reverse=True)
    return Difference(tuple(changed), tuple(new), gone, unchanged, after.failures, before.failures)


def _key(row: ResourceRow) -> tuple[str, str, str]:
    return row.path, row.symbol, row.arch


def _of_targets(rows: list[ResourceRow], row: ResourceRow) -> ResourceRow | None:
    """The row for one of the same targets, else the first; None of none."""
    fitting = (one for one in rows if set(one.targets) & set(row.targets))
    return next(fitting, rows[0] if rows else None)
