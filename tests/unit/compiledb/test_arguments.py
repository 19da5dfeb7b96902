"""What the words of a compile command come to."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compiledb.arguments import read_arguments
from cudalint.compiledb.model import CompileCommand, ForcedInclude, ReadCommand
from cudalint.compiledb.options import split_command

ROOTS = ("/link/p", "/real/p")


def read(text: str, directory: str = "/link/p/build") -> ReadCommand:
    return read_arguments(split_command(text), directory, ROOTS)


def command(text: str, directory: str = "/link/p/build") -> CompileCommand:
    return read(text, directory).command


@pytest.mark.parametrize(
    ("options", "folders"),
    [
        ("-I../inc", ("inc",)),
        ("-I ../inc", ("inc",)),
        ("-I.. -I.", (".", "build")),
        ("-I/real/p/inc", ("inc",)),
        ("-I/real/pp", ()),
        ("-isystem ../sys -I../inc", ("inc", "sys")),
        ("-isystem/link/p/sys", ("sys",)),
        ("-idirafter ../late -isystem ../sys", ("sys", "late")),
        ("--include-directory=../inc --include-directory ../b", ("inc", "b")),
        ("-I../inc -I ../inc", ("inc",)),
        ("-o -I../inc", ()),
        ("-Xclang -I../inc", ()),
        ("-MF -I../inc -I../b", ("b",)),
        ("-- -I../inc", ()),
        ("-I", ()),
    ],
)
def test_folders(options: str, folders: tuple[str, ...]) -> None:
    assert command(f"g++ -c a.cpp {options}").folders == folders


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("nvcc -I=../a,../b -isystem=../c", ("a", "b", "c")),
        ("/usr/local/cuda/bin/nvcc --include-path ../a,../b --include-path=../c", ("a", "b", "c")),
        ("ccache nvcc --system-include ../a", ("a",)),
        ("g++ -I../a,b", ("a,b",)),
        ("cl.exe /I../a /I ../b /external:I ../c", ("a", "b", "c")),
        (r"C:\vs\cl.exe /I..\a -I..\b", ("a", "b")),
        (r'"C:\Program Files\cl.exe" /I"..\a b"', ("a b",)),
        ("clang-cl -I../a", ("a",)),
        ("g++ /I../a", ()),
    ],
)
def test_folders_as_each_compiler_spells_them(text: str, folders: tuple[str, ...]) -> None:
    assert command(text).folders == folders


def test_quoted_folders_stay_apart_and_those_outside_are_named() -> None:
    found = read("g++ -iquote ../q -iquote /opt/q -I/opt/i -I../../up -I../inc")
    assert found.command.quoted == ("q",)
    assert found.command.folders == ("inc",)
    assert found.outside == ("/opt/i", "/link/up", "/opt/q")
    assert found.command.partial


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("g++ -DA -DB=2 -D C=x -DD=", (("A", "1"), ("B", "2"), ("C", "x"), ("D", ""))),
        ("g++ -DA=1 -DA=2 -UA -DB -UB -DB=3", (("A", None), ("B", "3"))),
        ("nvcc -DA=1,B --define-macro=C --define-macro D=4 --undefine-macro E", None),
        ("nvcc '-DA=\"x,y\",B=2'", (("A", '"x,y"'), ("B", "2"))),
        ("g++ -DA=1,2", (("A", "1,2"),)),
        ("g++ '-DF(x)=x' -D9 -D", ()),
        ("cl /DA#2 /D B /UC", (("A", "2"), ("B", "1"), ("C", None))),
        ("nvcc -Xcompiler -DA -DB", (("B", "1"),)),
        ("nvcc -Xcompiler=-DA --compiler-options -DC -DB", (("B", "1"),)),
    ],
)
def test_macros(text: str, defines: tuple[tuple[str, str | None], ...] | None) -> None:
    expected = defines or ()
    if defines is None:
        expected = (("A", "1"), ("B", "1"), ("C", "1"), ("D", "4"), ("E", None))
    assert command(text).defines == expected


@pytest.mark.parametrize(
    ("options", "archs"),
    [
        ("-arch=sm_90a", ("sm_90a",)),
        ("-arch sm_90", ("sm_90",)),
        ("--gpu-architecture=compute_80 --gpu-code=sm_80,sm_86", ("sm_80", "sm_86")),
        ("-gencode arch=compute_90,code=[sm_90,compute_90]", ("sm_90",)),
        ("--generate-code=arch=compute_120f,code=sm_121f", ("sm_121f",)),
        ("--cuda-gpu-arch=sm_75 --offload-arch=sm_80", ("sm_75", "sm_80")),
        ("-arch=native", ()),
        ("-arch=compute_90", ()),
        ("-DX=sm_90", ()),
    ],
)
def test_archs(options: str, archs: tuple[str, ...]) -> None:
    assert command(f"nvcc {options} -c a.cu").archs == archs


def test_forced_includes_are_where_the_command_runs_or_where_folders_say() -> None:
    found = command("g++ -include ../pre.h -include /opt/x.h --include y.h -include=z.h")
    assert found.forced == (
        ForcedInclude("../pre.h", "pre.h"),
        ForcedInclude("/opt/x.h", None),
        ForcedInclude("y.h", "build/y.h"),
        ForcedInclude("z.h", "build/z.h"),
    )
    assert command("cl /FIpre.h /FI y.h").forced == (
        ForcedInclude("pre.h", "build/pre.h"),
        ForcedInclude("y.h", "build/y.h"),
    )


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ("-std=c++17 -use_fast_math --expt-relaxed-constexpr", None),
        ("-maxrregcount 64", ("--maxrregcount=64",)),
        ("-maxrregcount=64", ("--maxrregcount=64",)),
        ("-Xptxas -v,-O2", ("-Xptxas", "-v,-O2")),
        ("-DA=1,B -UC", ("-DA=1", "-DB", "-UC")),
        ("-g -G -lineinfo", ()),
        ("-I../inc -isystem ../x", ()),
        ("-ccbin evil --compiler-bindir=evil -Xcompiler -fplugin=x", ()),
        ("--run -x cu -dryrun --keep -o /etc/passwd", ()),
        ("-Xlinker -DA", ()),
        ("-O3 -O -c", ("-O3",)),
    ],
)
def test_nvcc_gets_what_the_allow_list_lets_through(
    options: str, flags: tuple[str, ...] | None
) -> None:
    if flags is None:
        flags = ("-std=c++17", "--use_fast_math", "--expt-relaxed-constexpr")
    found = read(f"nvcc {options}")
    assert found.command.flags == flags
    assert not found.command.altered


@pytest.mark.parametrize(
    ("options", "altered"),
    [
        ("-dc", True),
        ("--device-c", True),
        ("-rdc=true", True),
        ("-rdc true", True),
        ("--relocatable-device-code=true", True),
        ("-rdc=false", False),
        ("-include x.h", True),
        ("-DX=1 -std=gnu++17 -c", False),
        ("-Xcompiler -dc", False),
    ],
)
def test_what_a_compile_alone_lacks(options: str, altered: bool) -> None:
    assert command(f"nvcc {options}").altered == altered


def test_dialects_of_gnu_are_the_standards_to_nvcc() -> None:
    assert command("clang++ -std=gnu++17").flags == ("-std=c++17",)


@pytest.mark.parametrize("value", ["$(touch x)", "`touch x`", "a\\b", "a\nb"])
def test_a_value_that_a_shell_would_run_is_refused_and_told(value: str) -> None:
    found = read_arguments(["nvcc", f"-DX={value}", "-DY=1"], "/link/p", ROOTS)
    assert found.command.flags == ("-DY=1",)
    assert found.refused == (f"-DX={value}",)
    assert found.command.altered


@pytest.mark.parametrize(
    "text",
    ["g++ @args.rsp", "nvcc --options-file args.rsp", "nvcc -optf=args.rsp", "cl @args.rsp"],
)
def test_files_of_arguments_are_named(text: str) -> None:
    found = read(text)
    assert found.responses == ("args.rsp",)
    assert found.command.partial


@given(st.text("ab -'\"\\#$\t\n\r\x0b\x0c\u2003", max_size=40))
def test_commands_are_split_as_a_shell_does(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"\w"):
            split_command(text)
    else:
        assert split_command(text) == expected


WORDS = st.sampled_from(["x", "inc", "../inc", "/link/p/a", "A", "A=1", "B=", "/opt/x", "x.h"])
OPTIONS = st.tuples(st.sampled_from(["-I", "-D", "-U", "-isystem", "-iquote"]), WORDS)
NOISE = st.sampled_from(["-Wall", "-fPIC", "-c", "a.cpp", "-pthread", "-Wl,-rpath,x"])


@given(st.lists(st.one_of(OPTIONS, NOISE), max_size=12))
def test_a_value_may_be_attached_or_not_and_other_words_change_nothing(
    options: list[tuple[str, str] | str],
) -> None:
    apart = [word for o in options for word in (o if isinstance(o, tuple) else (o,))]
    attached = ["".join(o) if isinstance(o, tuple) else o for o in options]
    alone = ["".join(o) for o in options if isinstance(o, tuple)]
    expected = read_arguments(["g++", *alone], "/link/p", ROOTS)
    assert read_arguments(["g++", *apart], "/link/p", ROOTS) == expected
    assert read_arguments(["g++", *attached], "/link/p", ROOTS) == expected


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_words_are_too_odd(words: list[str]) -> None:
    found = read_arguments(words, "/link/p", ROOTS)
    assert all(not folder.startswith(("/", "..")) for folder in found.command.folders)
    assert all(name.isidentifier() and name.isascii() for name, _ in found.command.defines)
