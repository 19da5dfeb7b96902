"""What one run of nvcc left behind, put together: figures, spills, files read, failures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cudalint.compile import key
from cudalint.compile.command import Command
from cudalint.compile.excuse import without_excused
from cudalint.compile.leavings import Leavings
from cudalint.compile.model import Compilation, CompiledFile, SpillLine
from cudalint.compile.process import Outcome
from cudalint.compile.request import CompileRequest
from cudalint.compile.stage import compile_files
from cudalint.compile.toolchain import Toolchain, Toolchains
from cudalint.compiledb.model import CompileCommand

ABOUT = "ptxas info    : Function properties for {}\n"
FRAME = "    8 bytes stack frame, {} bytes spill stores, {} bytes spill loads\n"
ENTRY = "ptxas info    : Compiling entry function '{}' for 'sm_90'\n"
USED = "ptxas info    : Used 10 registers, used 0 barriers\n"
SASS = '.text.{0}:\n\t//## File "{1}/a.cu", line 3\n   /*0000*/   LDL R3, [R1+0x8] ;\n'


def leavings(
    folder: Path, words: str, *, listing: str = "", ptx: str = "", code: int = 0, **more: Any
) -> Leavings:
    """Those of a.cu in `folder`/tree, compiled for sm_90 by an nvcc in the tree's .venv."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    command = Command((), out, (), ())
    command.output.write_bytes(b"")
    (out / "k.ptx").write_text(ptx)
    if listing:
        command.listing.write_text(listing)
    root = folder / "tree"
    nvcc = more.pop("nvcc", root / ".venv" / "bin" / "nvcc")
    tool = Toolchain(str(nvcc), "13.0.88", (13, 0), frozenset({90}))
    request = CompileRequest("a.cu", str(root), more.pop("arch", "sm_90"))
    sass = SASS.format("k", root) + SASS.format("quiet", root)
    outcome = Outcome("exit", code, words)
    return Leavings(request, tool, command, outcome, 60, lambda cubin: sass)


def test_a_function_before_any_entry_is_for_the_arch_that_was_asked_for(tmp_path: Path) -> None:
    words = ABOUT.format("f") + FRAME.format(0, 0)
    found = leavings(tmp_path, words).compilation()
    assert [f.arch for f in found.functions] == ["sm_90"]
    found = leavings(tmp_path, words, arch=None).compilation()
    assert (found.arch, [f.arch for f in found.functions]) == ("", [""])


@pytest.mark.parametrize(
    ("stores", "loads", "is_told"), [(0, 4, True), (4, 0, True), (0, 0, False)]
)
def test_lines_are_told_of_what_spills_alone(
    tmp_path: Path, stores: int, loads: int, is_told: bool
) -> None:
    """Whether stores spill or loads; what else a function keeps in its frame is none."""
    words = "".join(
        ABOUT.format(name) + FRAME.format(*figures)
        for name, figures in (("k", (stores, loads)), ("quiet", (0, 0)))
    )
    k, quiet = leavings(tmp_path, words).compilation().functions
    assert k.spill_lines == ((SpillLine("a.cu", 3, 0, 4),) if is_told else ())
    assert quiet.spill_lines == ()


def test_the_toolkit_in_the_tree_is_outside_of_the_project(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    names = ("a.cu", ".venv/include/cuda.h", ".venv2/own.h", "b.h")
    listing = f"a.cubin : {' '.join(str(root / name) for name in names)}"
    found = leavings(tmp_path, "", listing=listing).reading(5.0)
    assert found.inside == ("a.cu", ".venv2/own.h", "b.h")
    assert found.outside == (str(root / ".venv/include/cuda.h"),)
    assert found.folders == ("", ".venv2")
    for nvcc in (root / "bin" / "nvcc", tmp_path / "cuda" / "bin" / "nvcc"):
        found = leavings(tmp_path, "", listing=listing, nvcc=nvcc).reading(5.0)
        assert found.inside == names
        assert found.outside == ()


def test_the_last_words_of_a_failure(tmp_path: Path) -> None:
    def failure(words: str) -> str:
        return leavings(tmp_path, words, code=7).compilation().failure

    assert failure("") == "nvcc exited with status 7"
    assert failure("first\n  last \n \n") == "nvcc exited with status 7: last"
    assert failure("x" * 300) == f"nvcc exited with status 7: {'x' * 200}"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (0, "kernel a and 2 more takes"),
        (1, "kernel b and 1 more takes"),
        (2, "kernel c takes"),
        (3, ""),
    ],
)
def test_kernels_that_ptxas_does_not_tell_of(tmp_path: Path, told: int, said: str) -> None:
    ptx = "".join(f".entry {name}()\n{{\n}}\n" for name in "abc")
    words = "".join(
        ENTRY.format(n) + ABOUT.format(n) + FRAME.format(0, 0) + USED for n in "abc"[:told]
    )
    failure = leavings(tmp_path, words, ptx=ptx).compilation().failure
    assert failure == (f"ptxas did not tell, or not in full, what {said}" if said else "")


LOST = (
    "a.h: No such file or directory",
    'cannot open source file "a.h"',
    "'a.h' file not found",
)


@pytest.mark.parametrize("words", LOST)
def test_a_header_that_is_not_found_is_excused_where_folders_were_left_out(words: str) -> None:
    def told(failure: str, **command: Any) -> tuple[int, list[str]]:
        files = [CompiledFile(name, (Compilation("", (), failure=failure),)) for name in names]
        commands = {name: [CompileCommand(**command)] for name in names}
        kept, skips = without_excused(files, commands)
        return len(kept), [skip.what for skip in skips]

    names = ["a.cu"]
    assert told(words, partial=True) == (0, ["CU5 for a.cu"])
    assert told("another error", partial=True) == (1, [])
    assert told("another error", altered=True) == (0, ["CU5 for a.cu"])
    assert told(words) == (1, [])
    names = ["a.cu", "b.cu"]
    assert told(words, partial=True) == (0, ["CU5 for a.cu and 1 more"])
    names = ["a.cu", "b.cu", "c.cu"]
    assert told(words, partial=True) == (0, ["CU5 for a.cu and 2 more"])


def key_of(tool: Toolchain, environment: dict[str, str]) -> str:
    command = Command((), Path("/t"), ("-cubin",), ("/w/i", "/opt/i"))
    return key.result_key(CompileRequest("a.cu", "/w"), tool, command, environment)


def test_what_a_result_depends_on(tmp_path: Path) -> None:
    """The disassembler, the host compiler, and the variables that say where headers are."""
    gcc = tmp_path / "gcc"
    gcc.write_text("")
    gcc.chmod(0o755)
    plain = Toolchain("/usr/bin/nvcc", "13.0.88", (13, 0), frozenset({90}))
    with_sass = Toolchain("/usr/bin/nvcc", "13.0.88", (13, 0), frozenset({90}), "/usr/bin/nvdisasm")
    nowhere, here = {"PATH": "/none"}, {"PATH": str(tmp_path)}
    keys = [key_of(plain, nowhere), key_of(with_sass, nowhere), key_of(plain, here)]
    os.utime(gcc, (5, 5))
    keys.append(key_of(plain, here))
    for name in ("NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"):
        keys.append(key_of(plain, {**nowhere, name: "/opt/x"}))
    assert len(set(keys)) == len(keys)
    assert key_of(plain, {**nowhere, "EDITOR": "vi"}) == keys[0]


def test_a_result_depends_on_the_code_that_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key, "__file__", str(tmp_path / "key.py"))
    stamps = set()
    for text in ("one", "two"):
        (tmp_path / "sass.py").write_text(text)
        stamps.add(key._reader_stamp.__wrapped__())
    assert len(stamps) == 2


def test_a_compile_that_can_not_begin_keeps_its_arch(tmp_path: Path) -> None:
    gone = Toolchain(str(tmp_path / "gone"), "13.0.88", (13, 0), frozenset({90}))
    (tmp_path / "a.cu").touch()
    for arch, jobs in (("sm_90", 1), (None, 0)):
        request = CompileRequest("a.cu", str(tmp_path), arch)
        (file,) = compile_files([request], Toolchains((gone,)), jobs, 10.0, None)
        (compilation,) = file.compilations
        assert compilation.arch == (arch or "")
        assert compilation.failure == (
            f"nvcc can't be run (No such file or directory: {tmp_path / 'gone'})"
        )
