"""The words for a shadow that the formats for people share."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.tree.survey import SurveyedShadow, SurveyedTree


def headline(tree: SurveyedTree) -> str:
    """How much there is."""
    shadows, targets = len(tree.shadows), len(tree.tree.targets)
    shadow = "shadow" if shadows == 1 else "shadows"
    return f"{shadows} {shadow} in {targets} {'target' if targets == 1 else 'targets'}"


def declared(surveyed: SurveyedShadow) -> str:
    """The reason, or what stands in its place."""
    if surveyed.reason:
        return surveyed.reason
    if not surveyed.shadow.declared:
        return "none: not declared (CU401)"
    return "none"


def lines(surveyed: SurveyedShadow) -> str:
    """What changed of the text."""
    if surveyed.added is None or surveyed.removed is None:
        return "unknown: a file was not read"
    if not surveyed.added and not surveyed.removed:
        return "none changed"
    changed = f"{surveyed.added} added, {surveyed.removed} removed"
    return f"{changed}; includes what it replaces" if surveyed.wraps else changed


def entry_points(surveyed: SurveyedShadow) -> str:
    """What changed of the kernels that the host can look up."""
    words = "; ".join(_entry_points(surveyed)) or "the same"
    return words if surveyed.complete else f"{words} (an include was not found)"


def _entry_points(surveyed: SurveyedShadow) -> Iterator[str]:
    for names, word in (
        (surveyed.gained, "gained"),
        (surveyed.lost, "lost"),
        (surveyed.retyped, "with other parameters"),
    ):
        if names:
            yield f"{', '.join(names)} {word}"
