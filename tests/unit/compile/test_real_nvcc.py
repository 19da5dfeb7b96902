"""The compile stage with a real nvcc: its own figures, places, includes, and odd file names."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from cudalint.compile.model import Compilation
from cudalint.compile.stage import CompileRequest, compile_files
from cudalint.compile.toolchain import Toolchain, Toolchains

pytestmark = pytest.mark.nvcc

KERNELS = Path(__file__).parents[2] / "fixtures" / "ptxas"


def arch_of(toolchain: Toolchain) -> str:
    """A recent arch that the toolchain knows."""
    return next(f"sm_{number}" for number in (121, 90, 80) if number in toolchain.archs)


def compiled(
    root: Path, name: str, toolchains: Toolchains, cache: Path | None = None, **more: object
) -> Compilation:
    arch = arch_of(toolchains.found[0])
    request = CompileRequest(name, str(root), arch, **more)  # type: ignore[arg-type]
    (file,) = compile_files([request], toolchains, 2, 120.0, cache)
    (compilation,) = file.compilations
    return compilation


def test_figures_are_those_of_the_text_and_lines_add_up(
    toolchains: Toolchains, tmp_path: Path
) -> None:
    """Each nvcc of the machine, read by a second, simple-minded reader."""
    for toolchain in toolchains.found:
        arch = arch_of(toolchain)
        (file,) = compile_files(
            [CompileRequest("instances.cu", str(KERNELS), arch)],
            Toolchains((toolchain,)),
            1,
            120.0,
            None,
        )
        said = subprocess.run(
            [
                *(toolchain.nvcc, f"-arch={arch}", "-cubin", "-lineinfo", "-Xptxas", "-v"),
                *("-o", tmp_path / "x.cubin", KERNELS / "instances.cu"),
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        expected = {
            symbol: (int(stack), int(stores), int(loads), int(registers))
            for symbol, stack, stores, loads, registers in re.findall(
                r"properties for (\S+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores,"
                r" (\d+) bytes spill loads\n.*Used (\d+) registers",
                said,
            )
        }
        assert len(expected) == 4
        functions = file.compilations[0].functions
        assert {
            f.symbol: (f.stack, f.spill_stores, f.spill_loads, f.registers) for f in functions
        } == expected
        spilling = [f for f in functions if f.spill_stores]
        assert spilling, "the kernel was written to spill"
        for function in spilling:
            assert (function.max_threads, function.min_blocks) == (512, 3)
            if toolchain.nvdisasm is not None:
                stores = sum(line.stores for line in function.spill_lines)
                loads = sum(line.loads for line in function.spill_lines)
                assert (stores, loads) == (function.spill_stores, function.spill_loads)
                assert {line.path for line in function.spill_lines} == {"instances.cu"}


def test_warnings_at_their_tokens(toolchains: Toolchains) -> None:
    compilation = compiled(KERNELS, "warnings.cu", toolchains)
    lines = (KERNELS / "warnings.cu").read_text().splitlines()
    marked = [
        lines[d.line - 1][d.column - 1 :].split()[0]
        for d in compilation.diagnostics
        if d.line and d.column
    ]
    assert sorted(marked) == ["<", "N;", "dead;", "unused"]
    of_ptxas = {d.function for d in compilation.diagnostics if not d.line}
    assert of_ptxas == {"dropped", "_Z7mangledPij"}


def test_errors_at_their_tokens(toolchains: Toolchains) -> None:
    compilation = compiled(KERNELS, "front_errors.cu", toolchains)
    assert compilation.failure.startswith('no instance of function template "pick"')
    first = compilation.diagnostics[0]
    line = (KERNELS / "front_errors.cu").read_text().splitlines()[first.line - 1]
    assert line[first.column - 1 :].startswith("pick(1.0f, 2)")


def test_the_leaf_comes_before_common_and_the_second_run_is_kept(
    toolchains: Toolchains, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    for name, value in (("leaf", 4), ("common", 8)):
        (root / name).mkdir(parents=True)
        (root / name / "tile.cuh").write_text(f"#pragma once\nconstexpr int kTile = {value};\n")
    (root / "src").mkdir()
    (root / "src" / "k.cu").write_text(
        '#include "tile.cuh"\n#ifdef __CUDA_ARCH__\n#include "device.cuh"\n#endif\n'
        'extern "C" __global__ void k(float* y) {\n  __shared__ float t[WIDTH * kTile];\n'
        "  t[threadIdx.x] = y[threadIdx.x];\n  __syncthreads();\n"
        "  y[threadIdx.x] = t[kTile - 1];\n}\n"
    )
    (root / "common" / "device.cuh").write_text("#pragma once\n")
    before = sorted(root.rglob("*"))

    def shared(*folders: str) -> int | None:
        compilation = compiled(
            root,
            "src/k.cu",
            toolchains,
            tmp_path / "cache",
            include_paths=folders,
            flags=("-DWIDTH=16",),
        )
        assert compilation.failure == ""
        assert set(compilation.dependencies) == {
            "src/k.cu",
            f"{folders[0]}/tile.cuh",
            "common/device.cuh",
        }
        return compilation.functions[0].shared

    assert shared("leaf", "common") == 16 * 4 * 4
    assert shared("common", "leaf") == 16 * 8 * 4
    (root / "leaf" / "tile.cuh").write_text("#pragma once\nconstexpr int kTile = 2;\n")
    # What is as young as the compile may have changed since it began, and is not kept.
    os.utime(root / "leaf" / "tile.cuh", (1000, 1000))
    assert shared("leaf", "common") == 16 * 2 * 4
    assert sorted(root.rglob("*")) == before
    gone = Toolchains((_without_program(toolchains.found[0]),))
    kept = compiled(
        root,
        "src/k.cu",
        gone,
        tmp_path / "cache",
        include_paths=("leaf", "common"),
        flags=("-DWIDTH=16",),
    )
    assert kept.functions[0].shared == 16 * 2 * 4


def _without_program(tool: Toolchain) -> Toolchain:
    """The same with a program that does not exist: only kept results are left."""
    return Toolchain("/nonexistent", tool.version, tool.release, tool.archs, tool.nvdisasm)


def test_a_file_name_is_never_run(toolchains: Toolchains, tmp_path: Path) -> None:
    """nvcc hands names to a shell: such names are refused, all others are compiled."""
    mark = tmp_path / "mark"
    names = [f"a$(touch {mark.name}).cu", "b`touch mark`.cu", 'c";touch mark;".cu', "d;e.cu"]
    odd = "s p-a_c.e+f=g@h%i~j#k(l)[m]{n}:oéµ.cu"
    for name in (*names, odd):
        (tmp_path / name).write_text('extern "C" __global__ void k(float* y) { y[0] = 1; }\n')
    arch = arch_of(toolchains.found[0])
    requests = [CompileRequest(name, str(tmp_path), arch) for name in (*names, odd)]
    found = compile_files(requests, toolchains, 1, 120.0, None)
    failures = {file.path: file.compilations[0].failure for file in found}
    assert {path for path, failure in failures.items() if not failure} == {odd}
    assert all("take literally" in failure for failure in failures.values() if failure)
    assert not mark.exists()
    assert len(list(tmp_path.iterdir())) == len(names) + 1
