"""Whether text is coloured."""

from __future__ import annotations

from typing import Literal

import pytest

from cudalint.reporters.colour import painter, wants_colour


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_who_decides(
    choice: Literal["auto", "always", "never"],
    environment: dict[str, str],
    terminal: bool,
    wanted: bool,
) -> None:
    assert wants_colour(choice, environment, terminal) is wanted


def test_painting() -> None:
    assert painter(False)("text", "red") == "text"
    assert painter(True)("text", "red") == "\x1b[1;31mtext\x1b[0m"
    assert painter(True)("", "red") == ""
