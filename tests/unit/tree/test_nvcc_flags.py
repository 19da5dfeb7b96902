"""The nvcc flags that a manifest may hold, in each spelling."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.toolchain import Toolchains
from cudalint.tree.flags import parse_flags

ALLOWED = [
    (["-DHDIM=128"], ("-DHDIM=128",)),
    (["-D", "HDIM=128"], ("-DHDIM=128",)),
    (["-D=HDIM"], ("-DHDIM",)),
    (["--define-macro", "HDIM=128"], ("-DHDIM=128",)),
    (["--define-macro=HDIM"], ("-DHDIM",)),
    (['-DNAME="a b"'], ('-DNAME="a b"',)),
    (["-UHDIM"], ("-UHDIM",)),
    (["--undefine-macro", "A,B"], ("-UA,B",)),
    (["-O3"], ("-O3",)),
    (["-O", "2"], ("-O2",)),
    (["--optimize=1"], ("-O1",)),
    (["-std=c++17"], ("-std=c++17",)),
    (["--std", "c++20"], ("-std=c++20",)),
    (["-lineinfo"], ("-lineinfo",)),
    (["--generate-line-info"], ("-lineinfo",)),
    (["-g"], ("-g",)),
    (["--device-debug"], ("-G",)),
    (["--fmad=false"], ("--fmad=false",)),
    (["-fmad", "true"], ("--fmad=true",)),
    (["-ftz=true"], ("--ftz=true",)),
    (["--prec-div", "false"], ("--prec-div=false",)),
    (["-prec-sqrt=true"], ("--prec-sqrt=true",)),
    (["-use_fast_math"], ("--use_fast_math",)),
    (["--maxrregcount", "128"], ("--maxrregcount=128",)),
    (["-maxrregcount=32"], ("--maxrregcount=32",)),
    (["--expt-relaxed-constexpr"], ("--expt-relaxed-constexpr",)),
    (["-expt-extended-lambda"], ("--expt-extended-lambda",)),
    (["-extended-lambda"], ("--extended-lambda",)),
    (["--extra-device-vectorization"], ("--extra-device-vectorization",)),
    (["-Xptxas", "-v"], ("-Xptxas", "-v")),
    (["-Xptxas=-v,-O3"], ("-Xptxas", "-v,-O3")),
    (["--ptxas-options=-dlcm=ca"], ("-Xptxas", "-dlcm=ca")),
    (["-Xptxas", "-warn-spills"], ("-Xptxas", "-warn-spills")),
    (["-Xptxas --warn-on-spills"], ("-Xptxas", "--warn-on-spills")),
    (["--diag-suppress", "177"], ("--diag-suppress=177",)),
    (["--diag-suppress 177,550"], ("--diag-suppress=177,550",)),
]


@pytest.mark.parametrize(("written", "arguments"), ALLOWED)
def test_allowed_flags_have_one_spelling(written: list[str], arguments: tuple[str, ...]) -> None:
    (flag,) = parse_flags(written)
    assert flag.problem == ""
    assert flag.arguments == arguments
    assert (flag.first, flag.last) == (0, len(written) - 1)


@pytest.mark.parametrize(
    "flag",
    [
        *("-ccbin", "--compiler-bindir=./cc", "-Xcompiler=-fplugin=x.so", "-Xlinker", "-Xnvlink"),
        *("--pre-include=/etc/passwd", "-include", "-isystem=/usr", "-L.", "-lcublas", "@args"),
        *("--options-file=x", "-optf", "--run", "-run", "-o", "-odir=.", "--keep", "-keep-dir=x"),
        *("--dryrun", "x.cu", "", "-arch=sm_90", "-gencode", "-t=0", "--lineinfo", "--Xptxas=-v"),
        *("-fmad", "-ptxas-options=-v", "-forward-unknown-to-host-compiler", "--use-local-env"),
    ],
)
def test_other_flags_are_not_allowed(flag: str) -> None:
    (found,) = parse_flags([flag])
    assert found.problem in ("flag-not-allowed", "flag-value-not-allowed")
    assert found.arguments == ()
    assert found.includes == ()


@pytest.mark.parametrize(
    "written",
    [
        *(["-D", "1X"], ["-D"], ["-DX-Y"], ["-U", "X=1"], ["-O4"], ["-O"], ["-std=gnu++17"]),
        *(["--fmad=maybe"], ["--maxrregcount=-1"], ["-Xptxas", "-v,--output-file=x"]),
        *(["-Xptxas=--dlcm"], ["--diag-suppress=;"], ["-DX\0Y"]),
    ],
)
def test_values_off_the_list(written: list[str]) -> None:
    assert [flag.problem for flag in parse_flags(written)] == ["flag-value-not-allowed"]


def test_several_flags_know_their_elements() -> None:
    flags = parse_flags(["-lineinfo", "-Xptxas", "-v", "-ccbin", "gcc", "-I", "a,b/c", "-Id"])
    assert [(f.text, f.first, f.last) for f in flags] == [
        ("-lineinfo", 0, 0),
        ("-Xptxas -v", 1, 2),
        ("-ccbin", 3, 3),
        ("gcc", 4, 4),
        ("-I a,b/c", 5, 6),
        ("-Id", 7, 7),
    ]
    assert [f.includes for f in flags] == [(), (), (), (), ("a", "b/c"), ("d",)]


@given(st.lists(st.sampled_from([words for words, _ in ALLOWED]), max_size=4))
def test_the_one_spelling_reads_as_itself(chosen: list[list[str]]) -> None:
    written = [word for words in chosen for word in words]
    arguments = [a for flag in parse_flags(written) for a in flag.arguments]
    assert [a for flag in parse_flags(arguments) for a in flag.arguments] == arguments


@given(st.lists(st.text("-DIOX=ptxas ,./v", max_size=8), max_size=4))
def test_no_list_makes_an_argument_that_is_no_flag(written: list[str]) -> None:
    for flag in parse_flags(written):
        assert flag.arguments == () or flag.arguments[0].startswith("-")
        assert bool(flag.problem) == (not flag.arguments and not flag.includes)


@pytest.mark.nvcc
def test_nvcc_takes_every_spelling(toolchains: Toolchains, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float* a) { a[0] = 1; }\n")
    nvcc = toolchains.found[0].nvcc
    for written, arguments in ALLOWED:
        spellings = [arguments] if " " in written[0] else [arguments, written]
        for spelling in spellings:
            command = [nvcc, "--dryrun", "-cubin", *spelling, "k.cu"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, (command, done.stderr)
