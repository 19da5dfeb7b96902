"""Colour in text output: whether it is wanted, and the escape codes.

Plain ANSI rather than rich: the text reporter needs five styles, and importing
rich takes longer than a small run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

Paint = Callable[[str, str], str]
"""Puts a text into a style: `bold`, `red`, `yellow`, `blue`, `cyan`, `green` or `dim`."""

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "yellow": "1;33",
    "blue": "1;34",
    "cyan": "36",
    "green": "32",
}


def wants_colour(
    choice: Literal["auto", "always", "never"], environment: Mapping[str, str], terminal: bool
) -> bool:
    """Whether to colour: `--color` decides, then NO_COLOR, then FORCE_COLOR, then the terminal.

    A variable that is set to nothing counts as not set (no-color.org);
    FORCE_COLOR=0 asks for none.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return environment["FORCE_COLOR"] != "0"
    return terminal and environment.get("TERM") != "dumb"


def painter(colour: bool) -> Paint:
    """What styles a text: ANSI codes, or nothing at all."""
    if not colour:
        return lambda text, style: text
    return lambda text, style: f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else text
