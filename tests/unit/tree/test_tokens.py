"""Files as tokens: what is a copy, what is near one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.tree.tokens import code_lines, few_changes, may_be_alike, same_tokens

TOKENS = st.sampled_from(
    [
        *(b"int", b"x", b"(", b")", b"{", b"}", b"1.5e-3f", b"0x1'000", b"+=", b"->", b"<<<"),
        *(b"/", b"*", b"?", b'"a // b"', b"'\\''", b'R"(/* " */)"'),
    ]
)
SPACES = st.sampled_from(
    [b" ", b"\t", b"\n", b"\r\n", b" // c\n", b" /* * / */ ", b" \\\n", b" // c \\\n d\n"]
)


def same(upper: bytes, lower: bytes) -> bool:
    found = same_tokens(code_lines(upper), code_lines(lower))
    assert may_be_alike(upper, lower) or not found
    return found


@given(st.lists(st.tuples(TOKENS, SPACES, SPACES), max_size=12))
def test_white_space_and_comments_make_no_difference(
    parts: list[tuple[bytes, bytes, bytes]],
) -> None:
    upper = b"".join(token + space for token, space, _ in parts)
    lower = b"// SPDX-License-Identifier: MIT\n" + b"".join(t + s for t, _, s in parts)
    assert same(upper, lower)


@given(st.lists(TOKENS, min_size=1, max_size=8), st.data())
def test_another_token_does(tokens: list[bytes], data: st.DataObject) -> None:
    changed = list(tokens)
    changed[data.draw(st.integers(0, len(tokens) - 1))] = b"other"
    assert not same(b" ".join(tokens), b" ".join(changed))


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (b"#define A 1\nint x;\n", b"#define A 1 int x;\n", False),
        (b"#define A \\\n 1\nint x;\n", b"#define A 1\nint\nx;\n", True),
        (b"# define A 1\n", b"#define A 1\n", True),
        (b'puts("// a");', b'puts("// b");', False),
        (b'puts("/*"); x(); /* "); */', b'puts("/*"); x();', True),
        (b"\xef\xbb\xbfint x;", b"int x;", True),
        (b"int xy;", b"int x y;", False),
        (b"a+ +b", b"a++b", False),
        (b"", b"/* nothing */", True),
        (b"int x; /* unfinished", b"int x;", True),
    ],
)
def test_copies(upper: bytes, lower: bytes, expected: bool) -> None:
    assert same(upper, lower) is expected


def lines(count: int) -> list[str]:
    return [f"x{n} = {n};" for n in range(count)]


def changes(upper: list[str], lower: list[str]) -> list[tuple[tuple[int, ...], ...]] | None:
    texts = ("// one\n\n" + "\n".join(text) for text in (upper, lower))
    above, below = (text.encode() for text in texts)
    found = few_changes(code_lines(above), code_lines(below))
    assert may_be_alike(above, below) or found is None
    return None if found is None else [(c.upper, c.lower) for c in found]


def test_near_copies_name_the_lines_of_the_files() -> None:
    lower = lines(20)
    upper = [*lower[:4], "y = 1;", "z = 2;", *lower[5:19]]
    assert changes(upper, lower) == [((7, 8), (7,)), ((), (22,))]


@pytest.mark.parametrize(
    ("count", "changed", "near"),
    [(20, 1, True), (20, 3, True), (20, 4, False), (19, 1, False), (400, 3, True), (400, 4, False)],
)
def test_near_is_three_lines_of_twenty(count: int, changed: int, near: bool) -> None:
    lower = lines(count)
    upper = [f"y{n};" if n < changed else line for n, line in enumerate(lower)]
    assert (changes(upper, lower) is not None) is near
    assert (changes(lower, upper) is not None) is near


def test_lines_in_another_order_are_changes() -> None:
    lower = lines(30)
    assert changes(lower[::-1], lower) is None


def test_most_pairs_are_told_apart_at_a_glance() -> None:
    upper, lower = ("\n".join(lines(count)).encode() for count in (30, 40))
    assert not may_be_alike(upper, lower)
    assert not may_be_alike(b"int x;", b"int y; /* int x; */ a; b; c; d;\n" + b"e;\n" * 4)


def test_lines_that_recur_in_long_files() -> None:
    """A line that stands there hundreds of times is found again like any other."""
    body = b"step();\n" * 300
    upper, lower = code_lines(body + b"int a;\n"), code_lines(b"int b;\n" + body)
    changes = few_changes(upper, lower)
    assert changes is not None
    assert [(change.upper, change.lower) for change in changes] == [((), (1,)), ((301,), ())]


def test_a_token_over_lines_belongs_to_its_first() -> None:
    lines = code_lines(b'a\n\nb R"(\n\n)" c\nd\n')
    assert [(line.number, line.text.split()[0]) for line in lines] == [
        (1, b"a"),
        (3, b"b"),
        (6, b"d"),
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_raw_strings_are_told_apart_by_their_tokens_alone(which: int) -> None:
    pair = [b'x = R"(// a)";\n', b"".join(b"y%d();\n" % number for number in range(9))]
    assert may_be_alike(pair[which], pair[1 - which])
