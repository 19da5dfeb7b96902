"""Integer expressions: what C++ says of them, and None for all else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.project.expression import evaluate

NAMES = {"kT": 64, "ns::kT": 96, "N": -3}


def value(text: str) -> int | None:
    return evaluate(text, NAMES.get)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("0x10u", 16),
        ("0b101", 5),
        ("010", 8),
        ("1'024ull", 1024),
        ("'a'", 97),
        ("true + true", 2),
        ("kT * 2", 128),
        ("ns :: kT", 96),
        ("::kT", 64),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 / -2", -3),
        ("1 << 10 | 1", 1025),
        ("6 ^ 3 & 1", 7),
        ("~0", -1),
        ("!0 + !5", 1),
        ("3 > 2 == 1", 1),
        ("1 ? 2 : unknown", 2),
        ("0 ? unknown : 3", 3),
        ("unknown ? 5 : 5", 5),
        ("0 && unknown", 0),
        ("unknown && 0", 0),
        ("1 || unknown", 1),
        ("sizeof(float) * 4", 16),
        ("sizeof(unsigned long long)", 8),
        ("sizeof(const float*)", 8),
        ("sizeof(long unsigned int)", 8),
        ("static_cast<int>(7)", 7),
        ("static_cast<unsigned char>(300)", 44),
        ("(int)5 + 1", 6),
        ("(signed char)200", -56),
        ("std::size_t(8)", 8),
        ("unsigned{4}", 4),
        ("int()", 0),
        ("bool(4)", 1),
        ("std::max(3, kT)", 64),
        ("min(2, 1)", 1),
        ("N < 0 ? -N : N", 3),
    ],
)
def test_value(text: str, expected: int) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unknown",
        "1 +",
        "1.5",
        "(1",
        "1)",
        "08",
        "1 / 0",
        "1 % 0",
        "1 << 64",
        "1 << -1",
        "0u - 1",
        "~0u",
        "9223372036854775807 * 4",
        "f(1)",
        "Traits<4>::value",
        "sizeof(unknown_t)",
        "unknown || 0",
        "unknown ? 1 : 2",
        "1 2",
        '"text"',
        "a = 3",
        "static_cast<float>(2)",
        "(" * 500 + "1" + ")" * 500,
        "- " * 500 + "1",
    ],
)
def test_no_value(text: str) -> None:
    assert value(text) is None


def test_a_function_is_asked_with_its_arguments_as_text() -> None:
    asked = []

    def apply(name: str, arguments: list[str]) -> int | None:
        asked.append((name, arguments))
        return 7

    assert evaluate("2 * round_up(f(a, b), 4 + 1)", NAMES.get, apply=apply) == 14
    assert asked == [("round_up", ["f ( a , b )", "4 + 1"])]


def divided(a: int, b: int) -> int:
    return int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


@given(st.integers(-1000, 1000), st.integers(-1000, 1000).filter(bool))
def test_division_and_remainder_are_those_of_c(a: int, b: int) -> None:
    assert value(f"({a}) / ({b})") == divided(a, b)
    assert value(f"({a}) % ({b}) + ({b}) * (({a}) / ({b}))") == a


leaf = st.integers(0, 99).map(lambda n: (str(n), n))


def joined(children: st.SearchStrategy[tuple[str, int]]) -> st.SearchStrategy[tuple[str, int]]:
    def join(one: tuple[str, int], operator: str, other: tuple[str, int]) -> tuple[str, int]:
        text = f"({one[0]}{operator}{other[0]})"
        return text, int(eval(f"{one[1]} {operator} {other[1]}"))

    operators = st.sampled_from(["+", "-", "*", "&", "|", "^", "<", ">", "==", "!="])
    return st.builds(join, children, operators, children)


@given(st.recursive(leaf, joined, max_leaves=8))
def test_nested_expressions_have_the_value_that_python_gives_them(case: tuple[str, int]) -> None:
    text, expected = case
    assert value(text) == expected


@given(st.text(alphabet="01kT+-*/%<>&|^~!?:(), {}'ux", max_size=30))
def test_any_text_has_a_value_or_none(text: str) -> None:
    assert isinstance(value(text), int | None)


@pytest.mark.parametrize("text", ["0x'", "0x", "0b'", "0b''1", "0x'1"])
def test_a_prefix_without_a_digit_is_no_number(text: str) -> None:
    assert value(text) is None
