"""Writes the kernel page from measured results; measures nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from case import Result

from gpu.launch import Launch

COPY_SHARE = 0.75
REFERENCE_SHARE = 0.5
# A copy this short (microseconds) is all launch latency, and so is a kernel beside it.
LATENCY_US = 5.0
# A median this much off the reference's is a difference and not noise.
NO_SLOWER = 0.95

_INTRODUCTION = """\
# Kernels

This page is written by `benchmarks/gpu/run.py`; do not edit it by hand.

The kernels are for GB10 (sm_121). No GB10 was at hand: for sm_121 they are compiled and inspected
only, and **no speed on sm_121 is claimed**. What follows was measured on the GPU named here, for
which the same sources were built.

`make gpu-test` holds every kernel to an fp32 reference and to itself, bit by bit, over two runs;
`compute-sanitizer --tool memcheck python -m pytest tests/gpu`, and the same with `racecheck`, look
for stray accesses and races. Without a GPU, `make test` compiles each kernel for sm_90 and sm_121
and accepts no warning, spill or stack frame, and `cudalint kernels/` has to be silent.
"""

_METHOD = """\
All figures of a row come from one run: kernel, reference and copy take turns, the L2 is flushed
before each call, CUDA events on an explicit stream time it, and the median of {rounds} counts.
*of copy* is the kernel's bandwidth over that of a device copy that moves as many bytes; *speed* is
the reference's time over the kernel's, so above 1 is faster. Memory-bound kernels are held to 75 %
of the copy, compute-bound ones to half of the reference; a shape whose copy takes under
{latency:.0f} µs measures launch latency and is not judged.
"""


@dataclass(frozen=True)
class Machine:
    """Where and when the figures were measured."""

    date: str
    gpu: str
    capability: str
    driver: str
    nvcc: str
    torch: str
    copy_gbs: float


def latency_bound(result: Result) -> bool:
    return result.copy_us < LATENCY_US


def falls_short(result: Result) -> bool:
    """Whether a result misses what its kernel is held to at that shape."""
    if result.case.bound == "memory":
        return result.copy_share < COPY_SHARE and not latency_bound(result)
    return result.case.bound == "compute" and result.speedup < REFERENCE_SHARE


def _name(result: Result) -> str:
    leaf = f" ({result.case.leaf})" if result.case.leaf else ""
    return f"`{result.case.kernel}`{leaf}"


def _verdict(result: Result) -> str:
    if result.case.bound == "none":
        return "not held to a bound"
    if falls_short(result):
        return "**falls short**"
    if result.case.bound == "memory" and latency_bound(result):
        return "launch latency"
    return "holds"


def _row(result: Result) -> str:
    case = result.case
    bandwidth = f"{result.gigabytes_per_second:.0f} GB/s"
    cells = (
        _name(result),
        case.phase,
        case.shape,
        f"{result.ours_us:.1f}",
        f"{result.teraflops:.0f} TFLOP/s" if case.flops else bandwidth,
        f"{100 * result.copy_share:.0f} %",
        f"{case.reference_name}, {result.reference_us:.1f}",
        f"{result.speedup:.2f}",
        _verdict(result),
    )
    return f"| {' | '.join(cells)} |"


def _where(result: Result) -> str:
    return f"{_name(result)}, {result.case.phase}, {result.case.shape}"


def _shortfalls(results: Sequence[Result]) -> Iterable[str]:
    short = [result for result in results if falls_short(result)]
    if not short:
        yield "Nothing falls short of its bound in this run."
    for result in short:
        if result.case.bound == "memory":
            what = f"{100 * result.copy_share:.0f} % of the copy's bandwidth, not 75 %"
        else:
            what = f"{result.speedup:.2f} of {result.case.reference_name}, not 0.5"
        yield f"- {_where(result)}: {what}."
    yield from _slower(results)
    yield from _unjudged(results)


def _slower(results: Sequence[Result]) -> Iterable[str]:
    slower = [result for result in results if result.speedup < NO_SLOWER]
    if slower:
        yield from ("", "Slower than the reference, with or without holding the bound:", "")
    for result in slower:
        yield f"- {_where(result)}: {result.speedup:.2f} of {result.case.reference_name}."


def _unjudged(results: Sequence[Result]) -> Iterable[str]:
    """What no bandwidth bound judged although it moves data at under 75 % of the copy's rate."""
    low = [
        result
        for result in results
        if result.copy_share < COPY_SHARE
        and not falls_short(result)
        and result.case.phase == "decode"
    ]
    if not low:
        return
    yield from ("", "Decode shapes under 75 % of the copy that are not held to it:", "")
    for result in low:
        latency = f"the copy takes {result.copy_us:.1f} µs: launch latency"
        other = "held to nothing" if result.case.bound == "none" else "held to its reference"
        why = latency if latency_bound(result) else other
        yield f"- {_where(result)}: {100 * result.copy_share:.0f} % ({why})."


def _launch_row(launch: Launch) -> str:
    leaf = launch.leaf or "common"
    grid = ", ".join(f"`{e}`" for e in launch.grid)
    block = ", ".join(str(e) for e in launch.block)
    return (
        f"| `{launch.entry}` | {leaf} | `{launch.module}` | {grid} | {block} | `{launch.shared}` |"
    )


def page(machine: Machine, rounds: int, results: Sequence[Result], tables: Iterable[Launch]) -> str:
    """The whole page as Markdown."""
    lines = [
        _INTRODUCTION,
        f"- Date: {machine.date}",
        f"- GPU: {machine.gpu} (compute capability {machine.capability}), driver {machine.driver}",
        f"- Toolkit: nvcc {machine.nvcc}; PyTorch {machine.torch}",
        f"- A large device copy there: {machine.copy_gbs:.0f} GB/s, reads and writes together",
        "",
        "## Speed",
        "",
        _METHOD.format(rounds=rounds, latency=LATENCY_US),
        "| kernel | phase | shape | µs | rate | of copy | reference, µs | speed | |",
        "|---|---|---|--:|--:|--:|---|--:|---|",
        *(_row(result) for result in results),
        "",
        "## What falls short",
        "",
        *_shortfalls(results),
        "",
        "## Launch",
        "",
        "From `kernels/gb10/launch/`: grid, threads per block, bytes of dynamic shared memory.",
        "",
        "| entry point | layer | module | grid | block | shared |",
        "|---|---|---|---|---|---|",
        *(_launch_row(launch) for launch in tables),
        "",
    ]
    return "\n".join(lines)
