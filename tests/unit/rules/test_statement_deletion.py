"""Deleting a statement without harm to its neighbours."""

from __future__ import annotations

import pytest

from cudalint.fixes.edits import apply_edits
from cudalint.wording.statements import deletion
from projects import project_of


def without(source: str) -> str:
    """The source without the statement `gone();`."""
    model = project_of({"a.cu": source}).models["a.cu"]
    call = next(c for c in model.calls if c.name == "gone")
    data = source.encode()
    return apply_edits(data, [deletion(call.statement, model, data)]).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void f() {\n  gone();\n  g();\n}\n", "void f() {\n  g();\n}\n"),
        ("void f() {\r\n  gone();\r\n  g();\r\n}\r\n", "void f() {\r\n  g();\r\n}\r\n"),
        ("void f() { gone(); g(); }\n", "void f() {  g(); }\n"),
        ("void f() {\n  gone(1,\n       2);\n}\n", "void f() {\n}\n"),
        ("void f() {\n  gone();  // why\n}\n", "void f() {\n    // why\n}\n"),
        ("void f() {\n  if (x) gone();\n  g();\n}\n", "void f() {\n  if (x) {}\n  g();\n}\n"),
        (
            "void f() {\n  if (x)\n    gone();\n  else\n    g();\n}\n",
            "void f() {\n  if (x)\n    {}\n  else\n    g();\n}\n",
        ),
        (
            "void f() {\n  if (x) g();\n  else gone();\n  h();\n}\n",
            "void f() {\n  if (x) g();\n  else {}\n  h();\n}\n",
        ),
        ("void f() { for (;;) gone(); }\n", "void f() { for (;;) {} }\n"),
        ("void f() { do gone(); while (x); }\n", "void f() { do {} while (x); }\n"),
        ("void f() { if (x) { gone(); } g(); }\n", "void f() { if (x) {  } g(); }\n"),
        ("void f() { end: gone(); }\n", "void f() { end: ; }\n"),
        (
            "void f() { switch (x) { case 1: gone(); } }\n",
            "void f() { switch (x) { case 1: ; } }\n",
        ),
        ("void f() { (void)gone(); }", "void f() {  }"),
    ],
)
def test_deletion(before: str, after: str) -> None:
    assert without(before) == after
