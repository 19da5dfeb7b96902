"""What each shadow of a tree amounts to: its reason, the lines it changes, its entry points.

Told, not judged: that is the rules CU401 to CU405's business.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

import msgspec

from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel
from cudalint.tree.entries import Entries, entry_points
from cudalint.tree.model import KernelTree
from cudalint.tree.shadows import Shadow, shadows


class SurveyedShadow(msgspec.Struct, frozen=True):
    """A shadow, the `reason` its row gives ("" without one), and how it differs.

    `added` and `removed` count lines of text, against the file replaced; they are
    None when one of the two was not read. `wraps` is whether the shadow includes what
    it replaces, whose lines are then still in force. `gained` and `lost` are the names of
    entry points, `retyped` those with other parameter types. `complete` is false
    when an include was not found, so that entry points may have been missed.
    """

    shadow: Shadow
    reason: str
    added: int | None
    removed: int | None
    wraps: bool
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    retyped: tuple[str, ...]
    complete: bool


class SurveyedTree(msgspec.Struct, frozen=True):
    """A tree with its shadows, in order of path."""

    tree: KernelTree
    shadows: tuple[SurveyedShadow, ...]


def survey(
    trees: Iterable[KernelTree], models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> tuple[SurveyedTree, ...]:
    """All shadows of `trees`, which `models` and `sources` (by path) hold the files of."""
    return tuple(
        SurveyedTree(tree, tuple(_surveyed(shadow, models, sources) for shadow in shadows(tree)))
        for tree in trees
    )


def _surveyed(
    shadow: Shadow, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> SurveyedShadow:
    manifest = shadow.layer.manifest
    row = manifest.shadow.get(shadow.key) if manifest is not None else None
    added, removed = _changed(sources.get(shadow.upper), sources.get(shadow.lower))
    upper, lower = Entries({}, complete=True), Entries({}, complete=True)
    if shadow.is_source:
        upper = entry_points(shadow.upper, shadow.target, models, sources)
        lower = entry_points(shadow.lower, shadow.target, models, sources)
    return SurveyedShadow(
        shadow=shadow,
        reason=str(row.value).strip() if row is not None else "",
        added=added,
        removed=removed,
        wraps=_wraps(shadow, models),
        gained=tuple(lower.lacking(upper)),
        lost=tuple(upper.lacking(lower)),
        retyped=tuple(upper.retyped(lower)),
        complete=upper.complete and lower.complete,
    )


def _wraps(shadow: Shadow, models: Mapping[str, FileModel]) -> bool:
    """Whether an include of the shadow leads to what it replaces: the first file found counts."""
    model = models.get(shadow.upper)
    folders = (posixpath.dirname(shadow.upper), *shadow.target.includes)
    for include in model.includes if model is not None else ():
        paths = (posixpath.normpath(posixpath.join(folder, include.path)) for folder in folders)
        if next((p for p in paths if p in models or p == shadow.lower), "") == shadow.lower:
            return True
    return False


def _changed(upper: SourceFile | None, lower: SourceFile | None) -> tuple[int | None, int | None]:
    """How many lines the upper file has that the lower one lacks, and the other way round."""
    from difflib import SequenceMatcher

    if upper is None or lower is None or upper.problem or lower.problem:
        return None, None
    old, new = lower.data.splitlines(), upper.data.splitlines()
    added = removed = 0
    for tag, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            removed += last - first
            added += end - start
    return added, removed
