"""From compile results to rows: which there are, and what stands in them."""

from __future__ import annotations

from cudalint.compile.model import Compilation, CompiledFile, FunctionResources, SpillLine
from cudalint.resources.model import FailedCompile, Origin, ResourceTable
from cudalint.resources.rows import resource_table
from projects import context_of

KERNEL = '\nextern "C" __global__ void k(float* y) { y[0] = 1; }\n'


def function(symbol: str = "k", arch: str = "sm_90", **more: object) -> FunctionResources:
    given = {"registers": 32, "barriers": 1, "shared": 1024, "max_threads": 256}
    return FunctionResources(symbol, symbol, arch, True, 8, 4, 12, **(given | more))  # type: ignore[arg-type]


def table(*compilations: Compilation, path: str = "k.cu", text: str = KERNEL) -> ResourceTable:
    return resource_table([CompiledFile(path, compilations)], context_of({path: text}))


def test_a_row_has_what_ptxas_says_and_what_follows() -> None:
    lines = (SpillLine("k.cu", 2, 4, 8),)
    made = Compilation("sm_90", (), (function(spill_lines=lines),), nvcc="13.0.88")
    (row,) = table(made).rows
    assert (row.path, row.kernel, row.arch, row.nvcc) == ("k.cu", "k", "sm_90", "13.0.88")
    assert row.origin == Origin("k.cu", 2)
    figures = (row.registers, row.spill_stores, row.spill_loads, row.stack, row.static_shared)
    assert figures == (32, 4, 12, 8, 1024)
    assert row.unplaced == (0, 4)
    assert row.occupancy is not None
    assert (row.occupancy.blocks, row.occupancy.limiters) == (8, ("registers", "warps"))


def test_ways_to_compile_that_come_to_the_same_are_one_row() -> None:
    def of(*targets: str, registers: int = 32, arch: str = "sm_90") -> Compilation:
        made = function(arch=arch, registers=registers)
        return Compilation(arch, targets, (made,), nvcc="13.0.88")

    rows = table(of("hw/b"), of("hw/a"), of("hw/c", registers=40), of("hw/a", arch="sm_121")).rows
    assert [(row.targets, row.arch, row.registers) for row in rows] == [
        (("hw/a",), "sm_121", 32),
        (("hw/a", "hw/b"), "sm_90", 32),
        (("hw/c",), "sm_90", 40),
    ]


def test_functions_that_are_no_kernels_have_no_row() -> None:
    device = FunctionResources("_Z1fi", "f", "sm_90", False, 24, 20, 20)
    assert [row.kernel for row in table(Compilation("sm_90", (), (device, function()))).rows] == [
        "k"
    ]


def test_a_compile_that_failed_has_no_rows_and_is_told() -> None:
    failed = Compilation("sm_121", ("hw/a",), (function(),), failure="no such header")
    found = table(failed, Compilation("sm_90", (), (function(),)))
    assert [row.arch for row in found.rows] == ["sm_90"]
    assert found.failures == (FailedCompile("k.cu", "sm_121", ("hw/a",), "no such header"),)


def test_what_is_not_known_is_not_made_up() -> None:
    unknown = Compilation("", (), (function("other", "sm_20", max_threads=None),))
    (row,) = table(unknown).rows
    assert (row.occupancy, row.usage, row.shape.threads) == (None, None, None)
    assert row.origin == Origin("k.cu", 0)
    known = Compilation("", (), (function(arch="sm_20"),))
    (row,) = table(known).rows
    assert row.occupancy is None
    assert row.usage is not None
