"""What the compile stage hands on can't be changed: rules, threads and runs share it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_nvcc import FakeNvcc

from cudalint.compile.archs import arch_limits
from cudalint.compile.command import build_command
from cudalint.compile.demangle import demangle
from cudalint.compile.frontend import read_complaints
from cudalint.compile.kernels import objectionable
from cudalint.compile.locate import FunctionPlace, Locator
from cudalint.compile.model import Compilation, CompiledFile, Diagnostic
from cudalint.compile.occupancy import Usage, occupancy, register_staircase
from cudalint.compile.process import Processes
from cudalint.compile.ptx import LineTable, read_bounds
from cudalint.compile.ptxas import read_ptxas
from cudalint.compile.request import CompileRequest
from cudalint.compile.sass import read_spill_lines
from cudalint.compile.store import Reading, Store
from cudalint.finding import Span
from projects import context_of
from records import records

WORDS = """\
ptxas info    : Compiling entry function 'k' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas warning : x
"""


def made(folder: Path) -> Iterator[object]:
    """One of everything."""
    request = CompileRequest("a.cu", str(folder), "sm_90")
    yield request
    yield build_command(request, folder)
    yield build_command(CompileRequest("a.cu", "/w", "x"), folder)
    yield demangle("_Z1kv")
    yield read_complaints("a.cu(1): error: x\n  at line 1")
    words = read_ptxas(WORDS)
    yield (words, [function.unplaced for function in words.functions])
    compiled = CompiledFile("a.cu", (Compilation("sm_90", (), words.functions),))
    yield compiled
    place = SimpleNamespace(function=lambda _: FunctionPlace("k", Span("a.cu", 0, 1)))
    found: Any = place
    yield list(objectionable(compiled, found, lambda function: True))
    locator = Locator(compiled, context_of({"a.cu": "int x;\n"}))
    yield locator.diagnostic(Diagnostic("error", "x", "a.cu", 1, 1))
    limits = arch_limits("sm_90")
    assert limits is not None
    usage = Usage(32, 32)
    yield (limits, usage, occupancy(limits, usage), register_staircase(limits, usage))
    yield Processes().run(["true"], timeout=10)
    yield FakeNvcc(folder / "bin").toolchains
    yield read_bounds(".entry k()\n{")
    yield LineTable('.file 1 "/a.cu"\n.loc 1 2 3\n').source(2)
    yield read_spill_lines('.text.k:\n\t//## File "/a.cu", line 3\n   STL [R1], R2 ;\n')
    reading = Reading((), (), (), time.time())
    Store(folder / "cache", folder, lambda message: None).keep(
        "key", reading, compiled.compilations[0]
    )
    yield reading


def test_no_record_can_be_changed(tmp_path: Path) -> None:
    found = list(records(list(made(tmp_path))))
    kinds = {type(record).__name__ for record in found}
    assert kinds >= {
        *("ArchLimits", "Build", "Command", "Compilation", "CompileRequest", "CompiledFile"),
        *("Complaint", "Diagnostic", "EntryBounds", "FunctionPlace", "FunctionResources", "Group"),
        *("LinePlace", "Name", "Occupancy", "Outcome", "Place", "PtxasOutput", "Reading"),
        *("Refusal", "SourceLine", "SpillLine", "Step", "Toolchain", "Toolchains", "Usage"),
    }
    for record in found:
        with pytest.raises(AttributeError, match="immutable type"):
            setattr(record, record.__struct_fields__[0], None)
