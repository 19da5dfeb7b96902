"""Runs with a compilation database: what is found through it, and what is said of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.compile.toolchain import Toolchains
from cudalint.run import Run
from forked import run_cudalint_text

LAUNCHER = """\
#include <proj/low.h>
void step(cudaStream_t s) {
  k<<<1, 32, 0, s>>>();
  low(s);
}
"""
LOW = "#pragma once\ninline void low(cudaStream_t s) { cudaStreamSynchronize(s); }\n"
OTHER = "#pragma once\ninline void low(cudaStream_t s) {}\n"
FILES: dict[str, str | bytes] = {
    "src/a.cu": LAUNCHER,
    "inc/proj/low.h": LOW,
    "other/proj/low.h": OTHER,
}


def write(root: Path, *words: str, at: str = "build") -> None:
    """The files and a database whose command has these words."""
    entry = {"directory": str(root / "build"), "file": "../src/a.cu", "arguments": list(words)}
    database = json.dumps([entry])
    write_files(root, {**FILES, f"{at}/compile_commands.json": database})


def codes(run: Run) -> list[tuple[str, str]]:
    return [(finding.code, finding.span.path) for finding in run.findings]


def start(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_cudalint_text([*arguments], cwd=root)


def test_a_sync_behind_an_include_path_is_found(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES})
    assert codes(lint(tmp_path, select=("CU301",))) == []
    write(tmp_path, "nvcc", "-I../inc")
    assert codes(lint(tmp_path, select=("CU301",))) == [("CU301", "inc/proj/low.h")]
    assert codes(lint(tmp_path, select=("CU301",), compile_commands="never")) == []


def test_a_warm_cache_does_not_keep_what_depends_on_macros(tmp_path: Path) -> None:
    kernel = '#ifdef TRACE\n__global__ void k() { printf("x"); }\n#endif\n#if TILE > 8\n'
    kernel += '__global__ void j() { printf("y"); }\n#endif\n'
    cache = tmp_path / "cache"

    def found(*words: str) -> list[str]:
        write(tmp_path / "p", "nvcc", *words)
        write_files(tmp_path / "p", {"src/a.cu": kernel})
        run = lint(tmp_path / "p", select=("CU201",), cache=cache)
        return [f.arguments[1] for f in run.findings]

    assert found("-UTRACE", "-DTILE=16") == ["j"]
    assert found("-DTRACE", "-DTILE=8") == ["k"]
    assert found("-DTRACE", "-DTILE=16") == ["k", "j"]


def test_nothing_of_a_command_is_run_or_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "args.rsp")
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    words = (str(evil), "@../args.rsp", f"-DX=$({evil})", "--options-file", "../args.rsp")
    write(tmp_path, *words, f"-ccbin={evil}")
    run = lint(tmp_path, select=("CU301", "CU5"), compile="auto")
    assert not (tmp_path / "ran").exists()
    assert [n.id for n in run.notifications] == ["compile-commands-incomplete"] * 2


def test_the_option_and_the_setting_name_a_database(tmp_path: Path) -> None:
    write(tmp_path, "nvcc", "-I../inc", at="out/x")
    arguments = ("--select", "CU301", "--output-format", "concise", "--no-cache", ".")
    assert start(tmp_path, *arguments).returncode == 0
    assert start(tmp_path, "--compile-commands", "out/x", *arguments).returncode == 1
    write_files(tmp_path, {"cudalint.toml": 'compile-commands = "out/x"\n'})
    assert start(tmp_path, *arguments).returncode == 1
    assert start(tmp_path, "--compile-commands", "never", *arguments).returncode == 0
    shown = start(tmp_path, "graph", "low", "--compile-commands", "out/x", ".")
    assert "step" in shown.stdout
    assert "--compile-commands FILE" in start(tmp_path, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (
            ("--compile-commands", "bad.json"),
            "",
            "--compile-commands: bad.json:2:1: the JSON ends too early",
        ),
        (
            ("--compile-commands", "gone"),
            "",
            "--compile-commands: gone: No such file or directory",
        ),
        (
            (),
            'compile-commands = "gone"\n',
            "compile-commands: gone: No such file or directory",
        ),
        (
            (),
            "compile-commands = 3\n",
            "cudalint.toml:1:20: compile-commands: expected str, got int",
        ),
    ],
)
def test_a_database_that_can_not_be_used_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], settings: str, message: str
) -> None:
    write_files(tmp_path, {**FILES, "bad.json": "[\n", "cudalint.toml": settings})
    for command in ((), ("graph", "low")):
        done = start(tmp_path, *command, *arguments, ".")
        assert done.returncode == 2
        assert done.stderr == f"cudalint: error: {message}\n"


def test_what_nvcc_finds_through_the_command(tmp_path: Path, toolchains: Toolchains) -> None:
    write(tmp_path, "nvcc", "-I../inc", "-isystem", "/opt/nowhere", "-DN=4", "-arch=sm_90")
    kernel = '#include <proj/n.h>\nextern "C" __global__ void k(float* x) { *x = HALF; }\n'
    write_files(tmp_path, {"src/a.cu": kernel, "inc/proj/n.h": "#define HALF (N / 2)\n"})
    run = lint(tmp_path, select=("CU508",), compile="always")
    assert codes(run) == []
    assert run.skips == ()
    write_files(tmp_path, {"src/a.cu": "#include <lost.h>\n" + kernel})
    run = lint(tmp_path, select=("CU508",), compile="always")
    assert codes(run) == []
    assert [skip.what for skip in run.skips] == ["CU5 for src/a.cu"]
    write_files(tmp_path, {"src/a.cu": kernel + "int x = UNKNOWN;\n"})
    assert codes(lint(tmp_path, select=("CU508",), compile="always")) == [("CU508", "src/a.cu")]
