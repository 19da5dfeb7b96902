"""Static declarations with an initialiser: where they end, and what finding that costs."""

from __future__ import annotations

import pytest

from cudalint.syntax import scan
from cudalint.syntax.scan import statics


@pytest.mark.parametrize(
    "declaration",
    [
        "static int a = f(1);",
        "static T t{1};",
        "static T t(1, {2});",
        "static auto l = [] { return 1; }();",
        "static const int q[] = {3, 4}, w{};",
        "static T t = {1}\n;",
    ],
)
def test_they_end_with_their_semicolon(declaration: str) -> None:
    source = f"int z;\n{declaration}\nint y;\n".encode()
    assert [source[s.start : s.end].decode() for s in statics(source)] == [declaration]


@pytest.mark.parametrize("after", ["static void h() {}", "#endif", "};", "", "~C();"])
def test_a_function_s_body_is_none(after: str) -> None:
    assert statics(f"static int g(int x) {{ return x; }}\n{after}\n".encode()) == []


def test_functions_are_not_looked_through_to_the_end_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = [0]

    def count(units: int) -> None:
        steps[0] += units

    monkeypatch.setattr(scan, "spend", count)
    statics(b"static int g(int x) { return f(x); }\n" * 2000)
    assert steps[0] < 2000 * 10
