"""Shadows as Markdown, for a pull request or a document: a table for each tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.reporters.markup import markdown as prose
from cudalint.reporters.markup import markdown_code
from cudalint.reporters.tree.words import declared, entry_points, headline, lines
from cudalint.tree.survey import SurveyedShadow, SurveyedTree


def markdown(trees: Sequence[SurveyedTree]) -> str:
    """The trees, with an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in _tree(tree)) for tree in trees)


def _tree(tree: SurveyedTree) -> Iterator[str]:
    yield f"### {prose(tree.tree.root)}: {headline(tree)}"
    if tree.shadows:
        yield ""
        yield "| file | replaces | reason | lines | entry points |"
        yield "|---|---|---|---|---|"
        yield from map(_row, tree.shadows)


def _row(surveyed: SurveyedShadow) -> str:
    shadow = surveyed.shadow
    cells = [
        markdown_code(shadow.upper),
        markdown_code(shadow.lower),
        prose(declared(surveyed)),
        lines(surveyed),
        prose(entry_points(surveyed)) if shadow.is_source else "",
    ]
    return f"| {' | '.join(cells)} |"
