"""What the rules on sources say of one run, and what is told of its files beside that.

It depends on nothing but the files, the trees, the commands and the settings, so
that it can be kept (`cudalint.judgements`). Compiled resources are no part of it,
and neither are suppressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Finding, Level
from cudalint.run import Counts, Notification, Skip
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.judging import Judge
    from cudalint.rule import Rule


class Judged(msgspec.Struct, frozen=True):
    """The findings of file, project and tree rules, with all that else comes from models.

    `cut_off` says of files why they were not read to their end, `incomplete` and
    `not_understood` are notifications: on compile commands, and on regions.
    """

    findings: tuple[Finding, ...]
    skips: tuple[Skip, ...]
    counts: Counts
    not_understood: tuple[Notification, ...]
    cut_off: dict[str, str] = {}
    incomplete: tuple[Notification, ...] = ()


def judge_sources(
    judging: Judge,
    rules: Sequence[type[Rule]],
    context: Context,
    models: Mapping[str, FileModel],
    owns: Callable[[SourceFile], bool],
) -> Judged:
    """Run all rules but those on compiled resources and on suppressions."""
    sources = context.sources
    unreadable = [FileModel(path, 0) for path, file in sources.items() if file.problem]
    judging.files(context.models, unreadable)
    context.let_go()
    judging.project()
    judging.trees()
    requested = [model for path, model in models.items() if sources[path].requested]
    return Judged(
        tuple(judging.findings),
        tuple(_without_arch(judging, rules, requested)),
        _counts(context.models[m.path] for m in requested if owns(sources[m.path])),
        tuple(_not_understood(requested, sources)),
    )


def _without_arch(
    judging: Judge, rules: Sequence[type[Rule]], models: Sequence[FileModel]
) -> Iterator[Skip]:
    """Say once of each rule that what depends on the arch was left out, where there was any."""
    for rule in rules:
        if judging.lack_arch(rule, models):
            yield Skip(f"{rule.code}{rule.by_arch}", "no arch known where 'targets' gives none")


def _counts(models: Iterable[FileModel]) -> Counts:
    """The files and the kernels defined in them; a macro's kernels count where it is used."""
    files = kernels = 0
    for model in models:
        files += 1
        kernels += sum(
            kernel.kind == "definition" and not (kernel.via_macro and kernel.use is None)
            for kernel in model.kernels
        )
    return Counts(files, kernels)


def _not_understood(
    models: Iterable[FileModel], sources: Mapping[str, SourceFile]
) -> Iterator[Notification]:
    """One notification for all the regions that the parser could not read and no rule reports."""
    places = []
    paths = set()
    for model in models:
        regions = [region.span for region in model.broken if not region.matters]
        if regions:
            from cudalint.lines import LineIndex

            paths.add(model.path)
            lines = LineIndex(sources[model.path].data)
            places += [f"{model.path}:{lines.line_of(region.start)}" for region in regions]
    if not places:
        return
    regions_text = "1 region" if len(places) == 1 else f"{len(places)} regions"
    files_text = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    message = f"{regions_text} in {files_text} not understood"
    detail = "\n".join(places)
    yield Notification("regions-not-understood", Level.NOTE, message, None, detail)
