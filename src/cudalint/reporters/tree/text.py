"""Shadows for people: each tree, then a block for each file that replaces another.

kernels: 2 shadows in 4 targets

  kernels/gb10/llama/bf16/rope.cu  replaces  kernels/gb10/common/rope.cu
    reason:       head dim 64 instead of 128
    lines:        12 added, 9 removed
    entry points: rope_64 gained, rope_128 lost
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.reporters.tree.words import declared, entry_points, headline, lines
from cudalint.reporters.visible import visible
from cudalint.tree.survey import SurveyedShadow, SurveyedTree


def text(trees: Sequence[SurveyedTree]) -> str:
    """The trees, with an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in _tree(tree)) for tree in trees)


def _tree(tree: SurveyedTree) -> Iterator[str]:
    yield f"{visible(tree.tree.root)}: {headline(tree)}"
    for shadow in tree.shadows:
        yield ""
        yield from (f"  {visible(line)}" for line in _shadow(shadow))


def _shadow(surveyed: SurveyedShadow) -> Iterator[str]:
    yield f"{surveyed.shadow.upper}  replaces  {surveyed.shadow.lower}"
    yield f"  reason:       {declared(surveyed)}"
    yield f"  lines:        {lines(surveyed)}"
    if surveyed.shadow.is_source:
        yield f"  entry points: {entry_points(surveyed)}"
