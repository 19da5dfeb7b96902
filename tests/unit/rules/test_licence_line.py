"""CU101: whatever a file begins with, the fix makes it begin right, once and for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.context import Context
from cudalint.finding import Finding
from cudalint.fixes.edits import apply_edits
from cudalint.rule import NoOptions
from cudalint.rules.cu101_spdx_header import SpdxHeader
from cudalint.settings.model import Settings
from cudalint.wording.spdx import same_license
from projects import context_of

LINE = "// SPDX-License-Identifier: MIT OR Apache-2.0"
PIECES = [
    "\n",
    "\r\n",
    "  \n",
    "// Adds two vectors.\n",
    "/* one\n * two */\n",
    f"{LINE}\n",
    f"{LINE}\r\n",
    f"  {LINE}\n",
    f"/* {LINE[3:]} */\n",
    f"/*\n * {LINE[3:]}\n */\n",
    f"/* {LINE[3:]} */ int x;\n",
    "//SPDX-License-Identifier:MIT OR Apache-2.0\n",
    "// SPDX-License-Identifier: GPL-3.0-only\n",
    f'const char* text = "{LINE}";\n',
    "#pragma once\n",
    "int f();\n",
]


def judge(text: str, settings: Settings | None = None) -> tuple[list[Finding], Context]:
    context = context_of({"a.cuh": text}, settings)
    return list(SpdxHeader().check(context.models["a.cuh"], context, NoOptions())), context


@given(st.booleans(), st.lists(st.sampled_from(PIECES), max_size=5))
def test_the_fix_leaves_nothing_to_say(bom: bool, pieces: list[str]) -> None:
    text = ("\ufeff" if bom else "") + "".join(pieces)
    findings, context = judge(text)
    assert len(findings) <= 1
    for finding in findings:
        assert finding.fix is not None
        mended = apply_edits(context.sources["a.cuh"].data, finding.fix.edits).decode()
        assert mended.startswith(LINE)
        assert judge(mended)[0] == []
        for piece in ("// Adds two vectors.", "const char* text", "int f();", " two */"):
            assert (piece in mended) == (piece in text)


@given(st.booleans(), st.lists(st.sampled_from(PIECES), max_size=5))
def test_only_the_very_line_is_right(bom: bool, pieces: list[str]) -> None:
    text = ("\ufeff" if bom else "") + "".join(pieces)
    right = text.split("\n")[0].removesuffix("\r") == LINE
    assert (judge(text)[0] == []) is right


def test_a_fix_that_changes_the_licence_is_unsafe() -> None:
    findings, _ = judge("// SPDX-License-Identifier: GPL-3.0-only\n")
    assert [finding.fix is not None and finding.fix.safe for finding in findings] == [False]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("MIT OR Apache-2.0", "Apache-2.0 OR MIT", True),
        ("MIT  OR  Apache-2.0", "MIT OR Apache-2.0", True),
        ("(MIT)", "MIT", True),
        ("MIT", "Apache-2.0", False),
        ("MIT AND Apache-2.0", "MIT OR Apache-2.0", False),
        ("MIT OR", "MIT", False),
        ("", "MIT", False),
    ],
)
def test_expressions_that_allow_the_same(one: str, other: str, expected: bool) -> None:
    assert same_license(one, other) is expected
    assert same_license(other, one) is expected


def test_equivalent_expressions_pass_where_the_settings_say_so() -> None:
    text = "//  SPDX-License-Identifier:  Apache-2.0 OR MIT\n"
    assert judge(text, Settings(license_match="equivalent"))[0] == []
    assert len(judge(text)[0]) == 1
