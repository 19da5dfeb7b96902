"""The command line of a compile: what stands in it, and what never may."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.compile.command import Command, Refusal, build_command
from cudalint.compile.environment import clean_environment
from cudalint.compile.request import CompileRequest

FOLDER = Path("/scratch/1")


def built(request: CompileRequest) -> Command:
    command = build_command(request, FOLDER)
    assert isinstance(command, Command)
    return command


def test_the_whole_command() -> None:
    request = CompileRequest(
        "gb10/common/a b.cu", "/w", "sm_121", ("gb10/q/fp4", "gb10/common"), ("--fmad=false",)
    )
    assert built(request).arguments == (
        "-arch=sm_121",
        "-cubin",
        "-lineinfo",
        "-Xptxas",
        "-v",
        "-Wno-deprecated-gpu-targets",
        "--fmad=false",
        "-I/w/gb10/q/fp4",
        "-I/w/gb10/common",
        "--keep",
        "--keep-dir",
        "/scratch/1",
        "-MD",
        "-MF",
        "/scratch/1/out.d",
        "-o",
        "/scratch/1/out.cubin",
        "/w/gb10/common/a b.cu",
    )


def test_no_arch_is_the_default_of_nvcc() -> None:
    arguments = built(CompileRequest("a.cu", "/w")).arguments
    assert not any(argument.startswith("-arch") for argument in arguments)


@pytest.mark.parametrize(
    "flag",
    [
        "-ccbin=/tmp/evil",
        "--compiler-options=-wrapper,/tmp/evil",
        "-Xcompiler",
        "--run",
        "-o/tmp/x",
        "-odir=/tmp",
        "--options-file=/etc/passwd",
        "-optf",
        "-include=/etc/passwd",
        "-Xptxas=--output-file=/tmp/x",
        "--dryrun",
        "-DX=$(touch /tmp/x)",
        "-DX=`touch /tmp/x`",
        'a.cu"',
        "other.cu",
    ],
)
def test_a_flag_that_is_not_allowed_is_dropped(flag: str) -> None:
    plain = built(CompileRequest("a.cu", "/w", "sm_121"))
    with_flag = built(CompileRequest("a.cu", "/w", "sm_121", flags=(flag, "-DOK=1")))
    assert [a for a in with_flag.arguments if a not in plain.arguments] == ["-DOK=1"]


@pytest.mark.parametrize(
    "request_",
    [
        CompileRequest("$(touch x).cu", "/w"),
        CompileRequest("`touch x`.cu", "/w"),
        CompileRequest('a";touch x;".cu', "/w"),
        CompileRequest("a\\.cu", "/w"),
        CompileRequest("a\n.cu", "/w"),
        CompileRequest("a;b.cu", "/w"),
        CompileRequest("a.cu", "/w$HOME"),
        CompileRequest("a.cu", 'C:"x'),
        CompileRequest("a.cu", "/w", include_paths=("x$(y)",)),
        CompileRequest("a.cu", "/w", include_paths=("x,y",)),
        CompileRequest("a.cu", "/w", "sm_121 --run"),
        CompileRequest("a.cu", "/w", "compute_90"),
        CompileRequest("a.cu", "/w", ""),
    ],
)
def test_what_nvcc_would_hand_to_a_shell_is_refused(request_: CompileRequest) -> None:
    assert isinstance(build_command(request_, FOLDER), Refusal)


def test_ordinary_odd_names_are_passed() -> None:
    name = "dir with space/a-b_c.d+e=f@g%h~i#j(k)[l]{m}:nöπ.cu"
    assert built(CompileRequest(name, "/w")).arguments[-1] == f"/w/{name}"


def test_a_project_may_lie_where_it_likes() -> None:
    root = "/home/o'brien & co; (new)!"
    assert built(CompileRequest("a.cu", root, include_paths=("i",))).arguments[-1] == f"{root}/a.cu"


def test_debugging_code_has_its_own_line_information() -> None:
    assert "-lineinfo" not in built(CompileRequest("a.cu", "/w", flags=("-G",))).arguments


def test_the_environment_loses_what_changes_a_compile_unseen(tmp_path: Path) -> None:
    before = {
        "PATH": "/bin",
        "HOME": "/root",
        "NVCC_APPEND_FLAGS": "-DEVIL",
        "NVCC_PREPEND_FLAGS": "--run",
        "DEPENDENCIES_OUTPUT": "/w/a.d",
        "LANG": "de_DE.UTF-8",
        "LC_MESSAGES": "de_DE.UTF-8",
        "CPATH": "/opt/include",
        "TMPDIR": "/w",
    }
    assert clean_environment(before, tmp_path) == {
        "PATH": "/bin",
        "HOME": "/root",
        "CPATH": "/opt/include",
        "LC_ALL": "C",
        "TMPDIR": str(tmp_path),
    }


# What nvcc, cicc, ptxas, gcc and the shell take words, files or folders from, says nvcc's
# manual ("NVCC Environment Variables"), gcc's ("Environment Variables") and bash's.
UNSEEN = (
    *("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CUDAFE_FLAGS", "PTXAS_FLAGS"),
    *("NVVMIR_LIBRARY_DIR", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_COMPARE_DEBUG"),
    *("SOURCE_DATE_EPOCH", "LANG", "LANGUAGE", "LC_CTYPE", "TMP", "TEMP", "BASH_ENV", "ENV"),
)


@pytest.mark.parametrize("name", UNSEEN)
def test_a_variable_that_changes_a_compile_unseen(name: str) -> None:
    assert clean_environment({name: "x", "PATH": "/bin"}) == {"PATH": "/bin", "LC_ALL": "C"}


def test_include_folders_among_the_flags_lie_below_the_root() -> None:
    request = CompileRequest("a.cu", "/w", include_paths=("i",), flags=("-Iown", "-DX"))
    assert built(request).includes == ("/w/i", "/w/own")
