"""Constants and macros of files: where names are looked up, and which have no value."""

from __future__ import annotations

import pytest

from projects import project_of


def value(text: str, files: dict[str, str], bindings: dict[str, int] | None = None) -> int | None:
    return project_of(files).constants.evaluate("a.cu", text, bindings)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("#define T 128\n", "T * 2", 256),
        ("#define T (kWarps * 32)\nconstexpr int kWarps = 4;\n", "T", 128),
        ("constexpr int kA = 0x20, kB = kA + 1;\n", "kB", 33),
        ("enum { kFirst = 3, kSecond };\n", "kSecond", 4),
        ("struct S { static constexpr int kT = 7; };\n", "S::kT", 7),
        ("#define UP(a, b) (((a) + (b) - 1) / (b))\n", "UP(100, 32)", 4),
        ("#define T 128\n#define T 0x80\n", "T", 128),
        ("using vec_t = float4;\nconstexpr int kN = 1;\n", "sizeof(vec_t)", 16),
        ("#if 0\n#define T 1\n#endif\n#define T 2\n", "T", 2),
        ("", "kN * 2", 10),
    ],
)
def test_value_in_one_file(source: str, text: str, expected: int) -> None:
    assert value(text, {"a.cu": source}, {"kN": 5}) == expected


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("#ifdef A\n#define T 1\n#else\n#define T 2\n#endif\n", "T"),
        ("#define A B\n#define B A\n", "A"),
        ("#define PASTE(a) a##1\n", "PASTE(1)"),
        ("#define UP(a, b) (a)\n", "UP(1)"),
        ("void f() { const int n = g(); }\n", "n"),
        ("using a_t = b_t; using b_t = a_t;\n", "sizeof(a_t)"),
        ("template <int N> struct S { static constexpr int kT = N; };\n", "S<3>::kT"),
    ],
)
def test_no_value(source: str, text: str) -> None:
    assert value(text, {"a.cu": source}) is None


def test_a_name_of_the_file_itself_comes_before_an_included_one() -> None:
    files = {"a.cu": '#include "b.cuh"\n#define T 1\n', "b.cuh": "#define T 2\n#define U 3\n"}
    assert value("T + U", files) == 4


def test_includes_are_followed_to_the_end_and_round_in_circles() -> None:
    files = {
        "a.cu": '#include "b.cuh"\n',
        "b.cuh": '#include "c.cuh"\n#include "b.cuh"\n',
        "c.cuh": '#include "b.cuh"\nconstexpr int kDeep = 9;\n',
    }
    assert value("kDeep", files) == 9


def test_a_constant_of_a_header_is_worth_what_the_header_says() -> None:
    files = {"a.cu": '#include "b.cuh"\n#define T 1\n', "b.cuh": "constexpr int kU = T + 1;\n"}
    assert value("kU", files) == 2


def test_system_includes_bring_nothing() -> None:
    assert value("T", {"a.cu": "#include <b.cuh>\n", "b.cuh": "#define T 2\n"}) is None


def test_very_long_chains_have_no_value_and_do_not_overflow() -> None:
    lines = "".join(f"#define A{n} (A{n + 1} + 1)\n" for n in range(400))
    assert value("A0", {"a.cu": lines + "#define A400 1\n"}) is None
