"""Suppressions in files that the real parser reads, on findings of the real rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.run import Run

HEADER = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


def codes(run: Run) -> list[str]:
    """The codes of the findings that stand."""
    return [finding.code for finding in run.findings]


def lint_text(root: Path, text: str, *select: str) -> Run:
    """Lint one file."""
    write_files(root, {"a.cu": text})
    return lint(root, select=(*select, "CU002", "CU003"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "lines",
    [
        [
            "#define RECORD(e) cudaEventRecord(e) /* NOLINT(CU302): in a macro */",
            "void f(E e) {",
            "  RECORD(e);",
            "}",
        ],
        [
            "#define RECORD(e) \\",
            "  /* NOLINT(CU302): in a macro */ \\",
            "  cudaEventRecord(e)",
            "void f(E e) { RECORD(e); }",
        ],
        [
            "// NOLINTNEXTLINE(CU302): in a macro",
            "#define RECORD(e) \\",
            "  cudaEventRecord(e)",
            "void f(E e) { RECORD(e); }",
        ],
        [
            "#define RECORD(e) cudaEventRecord(e)",
            "void f(E e) {",
            "  RECORD(e);  // NOLINT(CU302): at the use",
            "}",
        ],
        [
            "void f(E e) {",
            "  CHECK(cudaEventRecord(",
            "      e));  // NOLINT(CU302): last line",
            "}",
        ],
        [
            "void f(E e) {",
            "  // cudalint: ignore[CU302] next statement",
            "",
            "  auto s =",
            "      cudaEventRecord(e);",
            "  g(s);",
            "}",
        ],
        [
            "void f(E e) {",
            "  auto g = [&] {",
            "    cudaEventRecord(e);  // NOLINT(CU302): in a lambda",
            "  };",
            "  g();",
            "}",
        ],
    ],
)
def test_calls(tmp_path: Path, lines: list[str], end: str) -> None:
    run = lint_text(tmp_path, end.join([*lines, ""]), "CU302")
    assert codes(run) == []
    assert [s.finding.code for s in run.suppressed] == ["CU302"]
    assert run.suppressed[0].reason


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(  // NOLINT(CU108): any block\n    float* out) {}\n",
        "__global__ void k(\n    float* out)  // NOLINT(CU108): any block\n{}\n",
        "template <int N>  // NOLINT(CU108): any block\n__global__ void k(float* out) {}\n",
        "// cudalint: ignore[CU108] any block\ntemplate <int N>\n__global__ void k() {}\n",
        "// cudalint: ignore-file[missing-launch-bounds] any block\n__global__ void k() {}\n",
    ],
)
def test_declaration_heads(tmp_path: Path, text: str) -> None:
    run = lint_text(tmp_path, text, "CU108")
    assert codes(run) == []
    assert [s.finding.code for s in run.suppressed] == ["CU108"]


def test_a_comment_in_the_body_is_not_on_the_head(tmp_path: Path) -> None:
    text = "__global__ void k() {\n  // NOLINTNEXTLINE(CU108): too late\n  f();\n}\n"
    assert codes(lint_text(tmp_path, text, "CU108")) == ["CU108", "CU002"]


def test_a_whole_file_finding(tmp_path: Path) -> None:
    text = "// cudalint: ignore-file[CU101] vendored\nint x;\n"
    run = lint_text(tmp_path, text, "CU101")
    assert codes(run) == []
    assert [s.reason for s in run.suppressed] == ["vendored"]


def test_dead_code_suppresses_nothing_and_is_not_judged(tmp_path: Path) -> None:
    text = "void f(E e) {\n#if 0\n  // NOLINTBEGIN(CU302)\n#endif\n  cudaEventRecord(e);\n}\n"
    assert codes(lint_text(tmp_path, text, "CU302")) == ["CU302"]


def test_strings_are_no_comments(tmp_path: Path) -> None:
    text = (
        "void f(E e) {\n"
        '  g("// NOLINT(CU302): no"); cudaEventRecord(e);\n'
        '  h(R"x(/* NOLINTNEXTLINE(CU302): no */)x");\n  cudaEventRecord(e);\n}\n'
    )
    assert codes(lint_text(tmp_path, text, "CU302")) == ["CU302", "CU302"]


def test_a_rule_that_is_not_selected_is_not_judged(tmp_path: Path) -> None:
    text = HEADER + "int x;  // NOLINT(CU302): a\nint y;  // NOLINT(CU501): b\n"
    assert codes(lint_text(tmp_path, text, "CU101")) == []
    assert codes(lint_text(tmp_path, text, "CU302")) == ["CU002"]
    assert codes(lint_text(tmp_path, text, "CU302", "CU501")) == ["CU002"]


def test_per_file_ignores_are_not_judged(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "cudalint.toml": '[per-file-ignores]\n"a.cu" = ["CU302"]\n',
            "a.cu": "int x;  // NOLINT(CU302): a\n",
            "b.cu": "int x;  // NOLINT(CU302): a\n",
        },
    )
    run = lint(tmp_path, select=("CU302", "CU002"))
    assert [(f.span.path, f.code) for f in run.findings] == [("b.cu", "CU002")]


def test_levels_of_the_settings_hold(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "cudalint.toml": '[rules.CU002]\nlevel = "note"\n',
            "a.cu": "int x;  // NOLINT(CU302): a\n",
        },
    )
    run = lint(tmp_path, select=("CU302", "CU002"))
    assert [(f.code, f.level.value) for f in run.findings] == [("CU002", "note")]
    assert run.exit_code == 0


def test_a_manifest_of_a_tree(tmp_path: Path) -> None:
    manifest = (
        "[shadow]\n"
        'first = "todo"  # NOLINT(CU403): the reason comes with the next release\n'
        "# cudalint: ignore[CU403] so does this one\n"
        'second = "tbd"\n'
        'third = "# NOLINT(CU403): a string"\n'
        'fourth = ""\n'
        "# NOLINTNEXTLINE(CU403): nothing wrong here\n"
        'fifth = "two warps per row"\n'
    )
    names = ("first", "second", "third", "fourth", "fifth")
    kernels = {f"gb10/{layer}/{n}.cu": "" for n in names for layer in ("common", "m/q")}
    write_files(tmp_path, {"gb10/m/q/KERNEL.toml": manifest, **kernels})
    run = lint(tmp_path, select=("CU403", "CU002", "CU003"))
    lines = [(manifest[: f.span.start].count("\n") + 1, f.code) for f in run.findings]
    assert lines == [(6, "CU403"), (7, "CU002")]
    assert [s.reason for s in run.suppressed] == [
        "the reason comes with the next release",
        "so does this one",
    ]
