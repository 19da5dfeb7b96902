"""What of a run's findings is set aside as old: by a baseline, and by a commit to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Finding, Level
from cudalint.run import Notification
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.adoption.baseline import Baseline, Entry
    from cudalint.adoption.gitbase import GitBase
    from cudalint.adoption.standing import Ran
    from cudalint.judging import Selection
    from cudalint.runner import Request
    from cudalint.syntax.model import FileModel


class Parted(msgspec.Struct, frozen=True):
    """The findings of a run: to `show`, `baselined`, and how many are in `unchanged` code.

    `gone` are the baseline's entries that nothing answers to.
    """

    show: tuple[Finding, ...]
    baselined: tuple[Finding, ...] = ()
    gone: tuple[Entry, ...] = ()
    unchanged: int = 0
    notifications: tuple[Notification, ...] = ()


class Aside(msgspec.Struct, frozen=True):
    """What the request compares with, read before the run: it is wrong early or not at all."""

    root: Path
    file: Path | None = None
    shown: str = ""
    baseline: Baseline | None = None
    base: GitBase | None = None

    @classmethod
    def of(cls, request: Request, root: Path) -> Aside:
        """Read the baseline and ask git. Raises SettingsError."""
        file = baseline = base = None
        if request.baseline is not None:
            from cudalint.adoption.baseline import read_baseline

            file = request.cwd / request.baseline
            baseline = read_baseline(file, request.baseline)
        if request.diff_base is not None:
            from cudalint.adoption.gitbase import find_base

            base = find_base(root, request.diff_base)
        return cls(root, file, request.baseline or "", baseline, base)

    def part(
        self,
        findings: tuple[Finding, ...],
        sources: Mapping[str, SourceFile],
        models: Mapping[str, FileModel],
        ran: Ran,
        selection: Selection,
    ) -> Parted:
        """Part the findings, which are in file order. Raises SettingsError where git fails."""
        parted = Parted(findings)
        if self.baseline is not None and self.file is not None:
            from cudalint.adoption.standing import Entries, part

            entries = Entries(self.file.parent, self.root, sources, models)
            standing = part(findings, self.baseline, entries, self.root, sources, ran)
            parted = Parted(
                standing.new,
                standing.known,
                standing.gone,
                notifications=tuple(self._fixed(standing.gone)),
            )
        if self.base is None:
            return parted
        new = self._news(self.base, parted.show, sources, models, selection)
        return msgspec.structs.replace(
            parted, show=tuple(new), unchanged=len(parted.show) - len(new)
        )

    def _fixed(self, gone: Sequence[Entry]) -> list[Notification]:
        count = sum(entry.count for entry in gone)
        if not count:
            return []
        are, them = ("1 finding is", "it") if count == 1 else (f"{count} findings are", "them")
        command = f"cudalint baseline write --baseline {self.shown}"
        message = f"{are} fixed that stood in {self.shown}; '{command}' takes {them} out"
        return [Notification("baseline-fixed", Level.NOTE, message)]

    def _news(
        self,
        base: GitBase,
        findings: Sequence[Finding],
        sources: Mapping[str, SourceFile],
        models: Mapping[str, FileModel],
        selection: Selection,
    ) -> list[Finding]:
        from cudalint.adoption.news import News
        from cudalint.rule import CompileRule, TreeRule

        by_file = {rule.code for rule in selection.of_kind(TreeRule)}
        by_function = {rule.code for rule in selection.of_kind(CompileRule)}
        news = News(base, self.root, sources, models, by_file=by_file, by_function=by_function)
        return [finding for finding in findings if news.is_new(finding)]
