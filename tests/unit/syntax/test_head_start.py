"""Where a function's head begins, whatever stands before it."""

from __future__ import annotations

from cudalint.syntax.read import read_model


def test_a_head_behind_a_long_comment_begins_behind_it() -> None:
    comment = b"// " + b"x" * 90 + b"\n"
    code = b"int before();\n" + comment * 100 + b"static int f(int a) { return a; }\n"
    function = read_model("a.cpp", code).functions[-1]
    assert function.name == "f"
    assert code[function.head.start :].startswith(b"static int f")
