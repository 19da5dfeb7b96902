"""Files that compile commands cover: how they are compiled, and which failures say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import write_files
from cudalint.compile.excuse import without_excused
from cudalint.compile.model import Compilation, CompiledFile, Diagnostic
from cudalint.compile.plan import plan
from cudalint.compile.request import CompileRequest
from cudalint.compiledb.model import CompileCommand
from cudalint.settings.model import Settings
from cudalint.tree.read import read_trees

COMMAND = CompileCommand(
    quoted=("q",), folders=("inc", "q"), archs=("sm_90", "sm_80"), flags=("-DX=1",)
)


def test_a_file_of_no_tree_is_compiled_as_its_commands_say(tmp_path: Path) -> None:
    write_files(tmp_path, {"inc/h.h": "", "q/h.h": ""})
    root = str(tmp_path)
    commands = {"a.cu": (COMMAND, CompileCommand(flags=("-DX=2",)))}
    assert plan(["a.cu", "b.cu", "a.h"], tmp_path, (), Settings(), commands) == [
        CompileRequest("a.cu", root, "sm_90", ("q", "inc"), ("-DX=1",)),
        CompileRequest("a.cu", root, "sm_80", ("q", "inc"), ("-DX=1",)),
        CompileRequest("a.cu", root, None, (), ("-DX=2",)),
        CompileRequest("b.cu", root),
    ]
    of_settings = plan(["a.cu"], tmp_path, (), Settings(targets=("sm_121",)), commands)
    assert [request.arch for request in of_settings] == ["sm_121", "sm_121"]


def test_a_file_with_many_commands_is_compiled_by_the_first(tmp_path: Path) -> None:
    many = [CompileCommand(flags=(f"-DX={number}",)) for number in range(100)]
    found = plan(["a.cu"], tmp_path, (), Settings(), {"a.cu": many})
    assert [request.flags for request in found] == [(f"-DX={number}",) for number in range(16)]


def test_no_folder_is_searched_that_a_link_puts_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_files(tmp_path, {"out/h.h": "", "root/inc/h.h": ""})
    (root / "q").symlink_to(tmp_path / "out")
    requests = plan(["a.cu"], root, (), Settings(), {"a.cu": (COMMAND,)})
    assert {request.include_paths for request in requests} == {("inc",)}


def test_manifests_say_it_for_the_sources_of_a_tree(tmp_path: Path) -> None:
    files = {"k/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n', "k/hw/common/a.cu": ""}
    write_files(tmp_path, files)
    trees = read_trees(tmp_path, ["k/hw/common"])
    found = plan(["k/hw/common/a.cu"], tmp_path, trees, Settings(), {"k/hw/common/a.cu": [COMMAND]})
    assert [(request.arch, request.flags) for request in found] == [("sm_121", ())]


LOST = "x.h: No such file or directory"
WRONG = "identifier 'y' is undefined"


@pytest.mark.parametrize(
    ("failure", "text", "command", "kept"),
    [
        (LOST, "", CompileCommand(partial=True), False),
        ("1 error", LOST, CompileCommand(partial=True), False),
        (WRONG, WRONG, CompileCommand(partial=True), True),
        (WRONG, WRONG, CompileCommand(altered=True), False),
        (LOST, LOST, CompileCommand(), True),
        (LOST, LOST, None, True),
        ("", LOST, CompileCommand(partial=True, altered=True), True),
    ],
)
def test_failures_for_want_of_what_was_left_out_are_no_findings(
    failure: str, text: str, command: CompileCommand | None, kept: bool
) -> None:
    diagnostic = Diagnostic("error", text, "a.cu", 1, 1)
    failed = Compilation("sm_90", (), diagnostics=(diagnostic,), failure=failure)
    good = Compilation("sm_80", ())
    files = [CompiledFile("a.cu", (good, failed)), CompiledFile("b.cu", (failed,))]
    commands = {} if command is None else {"a.cu": (command,), "b.cu": (command,)}
    found, skips = without_excused(files, commands)
    if kept:
        assert (found, skips) == (files, [])
    else:
        assert found == [CompiledFile("a.cu", (good,))]
        assert [str(skip) for skip in skips] == [
            "CU5 for a.cu and 1 more skipped "
            "(nvcc fails, and can't be given all that the compile command says)"
        ]
