"""Where comments are put: never where they would change code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.adoption.placing import Placement, Placements, code_of, comments_of
from cudalint.adoption.suppressing import bad_reason
from cudalint.finding import Finding, Level, Span
from cudalint.syntax.read import read_model

REASON = "known"


def finding(start: int, end: int, path: str = "a.cu") -> Finding:
    return Finding("CU999", Level.ERROR, "", Span(path, start, end), "")


def places(text: str, start: int, end: int, path: str = "a.cu") -> list[Placement]:
    data = text.encode()
    model = None if path.endswith(".toml") else read_model(path, data)
    return list(Placements(path, data, model, REASON).of(finding(start, end, path)))


def first(text: str, marked: str, path: str = "a.cu") -> str:
    """The text with the best comment on what is marked."""
    start = text.index(marked)
    place = places(text, start, start + len(marked), path)[0]
    return text[: place.at] + place.text(["CU999"], REASON) + text[place.at :]


@pytest.mark.parametrize(
    ("text", "marked", "wanted"),
    [
        ("int a;\nint b;\n", "b", "int a;\nint b;  // NOLINT(CU999): known\n"),
        ("int a;\r\nint b;", "b", "int a;\r\nint b;  // NOLINT(CU999): known"),
        ("int b;   \n", "b", "int b;  // NOLINT(CU999): known   \n"),
        ("int b;  // words\n", "b", "int b;  // words NOLINT(CU999): known\n"),
        ("int b;  /* w */\n", "b", "int b;  /* w */  // NOLINT(CU999): known\n"),
        ("#include <b>\n", "<b>", "#include <b>  // NOLINT(CU999): known\n"),
        (
            "\n#define M(x) f(x); \\\n  g(x)\n",
            "f(",
            "\n// NOLINTNEXTLINE(CU999): known\n#define M(x) f(x); \\\n  g(x)\n",
        ),
        (
            f"int a;\r\n\tint b = {'1 + ' * 25}1;\r\n",
            "b",
            f"int a;\r\n\t// NOLINTNEXTLINE(CU999): known\r\n\tint b = {'1 + ' * 25}1;\r\n",
        ),
        (
            '\nauto s = R"(\nb)";\n',
            "s",
            '\n// NOLINTNEXTLINE(CU999): known\nauto s = R"(\nb)";\n',
        ),
        (
            "// SPDX-License-Identifier: MIT\nint x; // a \\\nb\n",
            "SPDX",
            "// SPDX-License-Identifier: MIT\n// cudalint: ignore-file[CU999] known\n"
            "int x; // a \\\nb\n",
        ),
    ],
)
def test_the_best_place(text: str, marked: str, wanted: str) -> None:
    assert first(text, marked) == wanted


def test_manifests_have_their_own_comments() -> None:
    text = '[shadow]\na = """\nb # c\n"""\nd = "e"\n'
    assert first(text, "d =", "KERNEL.toml").endswith('d = "e"  # NOLINT(CU999): known\n')
    inside = first(text, "b #", "KERNEL.toml")
    assert inside.startswith("# cudalint: ignore-file[CU999] known\n")


def test_whole_files_are_silenced_on_top() -> None:
    (place,) = places("// SPDX-License-Identifier: MIT\nint a;\n", 0, 0)
    assert (place.at, place.kind) == (32, "top")
    (place,) = places("\ufeff#pragma once\n", 0, 0)
    assert (place.at, place.kind) == (3, "top")


PIECES = """int a;| |\n|\r\n|\\\n|\\\r\n|// c|/* c|*/|"|'|R"(|)"|#define M |#if 0\n|??/\n|f(a)"""
pieces = st.lists(st.sampled_from(PIECES.split("|")), max_size=24).map("".join)


@given(pieces, st.integers(0, 200))
def test_no_place_changes_code(text: str, at: int) -> None:
    data = text.encode()
    for place in places(text, min(at, len(text)), min(at + 1, len(text))):
        comment = place.text(["CU999"], REASON).encode()
        new = data[: place.at] + comment + data[place.at :]
        assert code_of("a.cu", new) == code_of("a.cu", data)
        word = place.at + comment.index(b"CU999")
        assert any(c.start <= word < c.end for c in comments_of("a.cu", new))
        before = data[: place.at].rsplit(b"\n", 1)[0]
        assert (
            place.kind == "end"
            or not before.rstrip(b"\r").endswith((b"\\", b"??/"))
            or (b"\n" not in data[: place.at])
        )


@pytest.mark.parametrize(
    "reason",
    ["", " ", "...", "two\nlines", "ends in \\", "a??/", "NOLINT too", "a */ b", "\x1b[2J"],
)
def test_reasons_that_can_not_be(reason: str) -> None:
    assert bad_reason(reason)


@pytest.mark.parametrize("reason", ["known", "legacy: see #12 (ours)", "größer, später"])
def test_reasons_that_can(reason: str) -> None:
    assert bad_reason(reason) is None
