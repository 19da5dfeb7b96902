"""The invocation: whether the run succeeded, what it skipped, what it could not do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sarif_om as om

from cudalint.finding import Level, Span
from cudalint.rulepage import HOME
from cudalint.run import Notification, Run
from cudalint.sarif.driver import pascal_case

CONFIGURATION = {"invalid-settings", "unknown-plugin"}
"""The notifications that speak of the settings and not of the run."""

SKIPPED = "step-skipped"

MEANINGS = {
    SKIPPED: "A part of the analysis did not take place.",
    "regions-not-understood": "The parser does not follow some regions of the code.",
    "resource-baseline": "Where the recorded resources and the kernels of now don't meet.",
    "rule-failed": "A rule stopped with an internal error, and its findings are missing.",
    "plugin-failed": "A plugin, or one of its rules, could not be used, and did not run.",
    "fix-failed": "A file that was to be mended could not be written, and is as it was.",
    "fix-left-out": "A fix was not made, because the file may not be changed or would break.",
    "fixes-unfinished": "Fixes were still to be made after the last pass: running again goes on.",
    "silenced-file": "A finding is silenced for its whole file, as its line has no place for it.",
    "file-failed": "A file was not analysed because of an internal error.",
    "baseline-fixed": "Findings of the baseline are fixed, and can be taken out of it.",
    "cache-unusable": "The cache could not be read or written, so the run was slower.",
    "missing-path": "A path that was asked for is not there.",
    "all-excluded": "Every path that was asked for is excluded by the settings.",
    "no-launcher": "The program that compilers are to be called by is not there.",
    "not-compiled": "Something was not compiled, so what it takes on the GPU is not known.",
    "no-nvcc": "Compiling was demanded, and no nvcc was found that can do it.",
    "types-unavailable": "The types behind aliases could not be asked for, so some went unseen.",
    "compile-commands-unusable": "A compilation database that was found could not be used.",
    "compile-commands-incomplete": "Part of what compile commands say was not followed.",
    "not-cuda": "A file that was asked for is no CUDA source.",
    "nothing-to-lint": "A folder that was asked for holds no CUDA files.",
    "unreadable-folder": "A folder could not be listed, so its files were not analysed.",
    "unreadable-file": "A file could not be read, so it was not analysed.",
    "internal-error": "cudalint itself failed, and the run came to nothing.",
    "invalid-settings": "The settings could not be used.",
    "unknown-plugin": "A plugin that was named is not installed, so its rules did not run.",
}
"""What each notification of this package means, by its id; docs/notifications.md has them too."""


class Notifications:
    """The notifications of one run, its skipped steps among them, and their descriptors."""

    def __init__(self, run: Run) -> None:
        skips = [Notification(SKIPPED, Level.NOTE, f"{skip}.") for skip in run.skips]
        self._run = run
        said = dict.fromkeys((*run.notifications, *_unread(run), *skips))
        self._all = sorted(said, key=lambda note: (note.id, note.message))
        self._indexes: dict[str, int] = {}
        for notification in self._all:
            self._indexes.setdefault(notification.id, len(self._indexes))

    @property
    def descriptors(self) -> list[Any]:
        """A descriptor for each kind of notification that there is, in order."""
        return [_descriptor(id_) for id_ in self._indexes]

    def invocation(self, location: Callable[[Span], Any]) -> Any:
        """The run's invocation. It failed when something is said at level error."""
        failed = self._run.exit_code == 2 or any(n.level is Level.ERROR for n in self._all)
        execution = [n for n in self._all if n.id not in CONFIGURATION]
        configuration = [n for n in self._all if n.id in CONFIGURATION]
        return om.Invocation(
            execution_successful=not failed,
            exit_code=self._run.exit_code,
            tool_execution_notifications=self._made(execution, location),
            tool_configuration_notifications=self._made(configuration, location),
        )

    def _made(self, notes: Sequence[Notification], location: Callable[[Span], Any]) -> list[Any]:
        return [
            om.Notification(
                descriptor=om.ReportingDescriptorReference(
                    id=note.id, index=self._indexes[note.id]
                ),
                level=note.level.value,
                message=om.Message(text=note.message),
                locations=[] if note.span is None else [location(note.span)],
            )
            for note in notes
        ]


def _unread(run: Run) -> list[Notification]:
    """The files that were asked for and could not be read: to people, CU004 says it."""
    return [
        Notification(
            "unreadable-file",
            Level.ERROR,
            f"'{path}' was not analysed: {source.problem}.",
            Span(path, 0, 0),
        )
        for path, source in run.sources.items()
        if source.problem is not None and source.requested
    ]


def _descriptor(id_: str) -> Any:
    meaning = MEANINGS.get(id_, f"Something to know of the run: {id_.replace('-', ' ')}.")
    text = om.MultiformatMessageString(text=meaning)
    return om.ReportingDescriptor(
        id=id_,
        name=pascal_case(id_),
        short_description=text,
        full_description=text,
        help=text,
        help_uri=f"{HOME}/blob/main/docs/notifications.md#{id_}",
    )
