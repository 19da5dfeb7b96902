"""Staircases as SVG: how many blocks an SM holds, over registers or shared memory.

What the steps are is `cudalint.compile.occupancy`'s knowledge; colours are the page's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from cudalint.compile.occupancy import Step

Scale = Callable[[float], float]

_WIDTH, _HEIGHT = 340, 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 10, 12, 22


class Axis(msgspec.Struct, frozen=True):
    """What runs along the bottom: `name` for the label, `unit` of one tick in steps' values."""

    name: str
    unit: int = 1


def staircase(steps: Sequence[Step], used: int, blocks: int, axis: Axis) -> str:
    """The steps as a line, with a mark at what is used; `used` may lie beyond the last step."""
    most = max(steps[-1].most, used, 1)
    tallest = max(*(step.blocks for step in steps), 1)

    def x(value: float) -> float:
        return _LEFT + value / most * (_WIDTH - _LEFT - _RIGHT)

    def y(count: float) -> float:
        return _HEIGHT - _BOTTOM - count / tallest * (_HEIGHT - _TOP - _BOTTOM)

    line = _line(steps, x, y)
    floor = f"V{y(0):.1f}H{x(0):.1f}Z"
    label = f"{blocks} blocks at {used // axis.unit} {axis.name}"
    return (
        f'<svg class="stairs" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"<title>{label}</title>"
        f'<path class="area" d="{line}{floor}"/><path class="line" d="{line}"/>'
        f'<line class="now" x1="{x(used):.1f}" y1="{_TOP - 4}" x2="{x(used):.1f}" y2="{y(0):.1f}"/>'
        f'<circle class="now" cx="{x(used):.1f}" cy="{y(blocks):.1f}" r="4"/>'
        f'<text x="{_LEFT - 8}" y="{y(tallest) + 4:.1f}" text-anchor="end">{tallest}</text>'
        f'<text x="{_LEFT - 8}" y="{y(0) + 4:.1f}" text-anchor="end">0</text>'
        f'<text x="{x(0):.1f}" y="{_HEIGHT - 6}">0</text>'
        f'<text x="{x(most):.1f}" y="{_HEIGHT - 6}" text-anchor="end">'
        f"{most // axis.unit} {axis.name}</text></svg>"
    )


def _line(steps: Sequence[Step], x: Scale, y: Scale) -> str:
    """The path along the tops of the steps, from left to right."""
    path = f"M{x(0):.1f} {y(steps[0].blocks):.1f}"
    for before, step in zip((None, *steps), steps, strict=False):
        if before is not None:
            path += f"V{y(step.blocks):.1f}"
        path += f"H{x(step.most):.1f}"
    return path
