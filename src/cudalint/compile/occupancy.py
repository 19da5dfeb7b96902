"""Theoretical occupancy: how many blocks of a kernel one SM holds, and what stands in the way.

Pure arithmetic over `cudalint.compile.archs`, the same as that of CUDA's
`cuda_occupancy.h` with the largest shared memory carveout, which a test compiles
and compares. What a kernel uses is told by ptxas, how it is launched by
`cudalint.resources.launching`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from cudalint.compile.archs import (
    REGISTERS_PER_THREAD,
    THREADS_PER_BLOCK,
    WARP,
    ArchLimits,
)

Limiter = Literal["registers", "shared memory", "warps", "blocks", "barriers"]

LIMITERS: tuple[Limiter, ...] = ("registers", "shared memory", "warps", "blocks", "barriers")


class Usage(msgspec.Struct, frozen=True):
    """What one block takes: `threads`, `registers` of a thread, bytes of shared memory.

    `barriers` is the number of named barriers, as ptxas counts them.
    """

    threads: int
    registers: int
    static_shared: int = 0
    dynamic_shared: int = 0
    barriers: int = 0


class Occupancy(msgspec.Struct, frozen=True):
    """How much of an SM a kernel can fill.

    `blocks` is the number of blocks on one SM at a time, 0 for a kernel that
    cannot be launched like this; `warps` those of them, `warps_per_sm` what the
    SM holds. `limiters` are what allows no more, in the order of `LIMITERS`;
    `limits` is how many blocks each allows, without what the kernel uses nothing of.
    """

    blocks: int
    warps: int
    warps_per_sm: int
    limiters: tuple[Limiter, ...]
    limits: dict[Limiter, int]

    @property
    def fraction(self) -> float:
        """Warps on the SM over what it holds: 0 to 1."""
        return self.warps / self.warps_per_sm


class Step(msgspec.Struct, frozen=True):
    """A step of a staircase: up to `most` of a resource, an SM holds `blocks` blocks."""

    most: int
    blocks: int


def occupancy(limits: ArchLimits, usage: Usage) -> Occupancy:
    """The occupancy of blocks of `usage` on an SM with `limits`.

    Raises ValueError for a block of no threads.
    """
    if usage.threads <= 0:
        raise ValueError(f"a block of {usage.threads} threads")
    warps = -(-usage.threads // WARP)
    warps_per_sm = limits.threads_per_sm // WARP
    allowed: dict[Limiter, int] = {}
    if usage.registers:
        allowed["registers"] = _by_registers(limits, warps, usage.registers)
    shared = usage.static_shared + usage.dynamic_shared
    if shared + limits.shared_reserved:
        allowed["shared memory"] = _by_shared(limits, shared)
    allowed["warps"] = 0 if usage.threads > THREADS_PER_BLOCK else warps_per_sm // warps
    allowed["blocks"] = limits.blocks_per_sm
    if limits.barriers_per_sm and usage.barriers:
        allowed["barriers"] = limits.barriers_per_sm // usage.barriers
    blocks = min(allowed.values())
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        warps_per_sm=warps_per_sm,
        limiters=tuple(name for name in LIMITERS if allowed.get(name) == blocks),
        limits=allowed,
    )


def register_staircase(limits: ArchLimits, usage: Usage) -> tuple[Step, ...]:
    """Every step over the registers of a thread, 1 to 255, the rest of `usage` as it is."""
    return tuple(
        _steps(
            (registers, occupancy(limits, msgspec.structs.replace(usage, registers=registers)))
            for registers in range(1, REGISTERS_PER_THREAD + 1)
        )
    )


def shared_staircase(limits: ArchLimits, usage: Usage) -> tuple[Step, ...]:
    """Every step over the bytes of shared memory of a block, static and dynamic together.

    The last step is that of no block at all, up to all that the SM has.
    """
    unit = limits.shared_unit
    reserved = limits.shared_reserved % unit
    edges = (edge for edge in range(-reserved, limits.shared_per_sm + 1, unit) if edge >= 0)

    def at(shared: int) -> Occupancy:
        changed = msgspec.structs.replace(usage, static_shared=shared, dynamic_shared=0)
        return occupancy(limits, changed)

    return tuple(_steps((edge, at(edge)) for edge in edges))


def fewer_registers(limits: ArchLimits, usage: Usage) -> Step | None:
    """The most registers, below those of `usage`, with which an SM holds more blocks."""
    return _next_below(register_staircase(limits, usage), usage.registers, limits, usage)


def less_shared(limits: ArchLimits, usage: Usage) -> Step | None:
    """The most bytes of shared memory, below those of `usage`, for more blocks on an SM."""
    shared = usage.static_shared + usage.dynamic_shared
    return _next_below(shared_staircase(limits, usage), shared, limits, usage)


def _by_registers(limits: ArchLimits, warps: int, registers: int) -> int:
    """Registers go to warps in whole portions, and an SM's four partitions share nothing."""
    if registers > REGISTERS_PER_THREAD + 1:
        return 0
    per_warp = -(-registers * WARP // limits.register_unit) * limits.register_unit
    partitions = limits.partitions
    return limits.registers_per_sm // partitions // per_warp * partitions // warps


def _by_shared(limits: ArchLimits, shared: int) -> int:
    unit = limits.shared_unit
    allocated = -(-(shared + limits.shared_reserved) // unit) * unit
    if allocated > limits.shared_per_block + limits.shared_reserved:
        return 0
    return limits.shared_per_sm // allocated


def _steps(points: Iterator[tuple[int, Occupancy]]) -> Iterator[Step]:
    last: Step | None = None
    for value, found in points:
        if last is not None and found.blocks != last.blocks:
            yield last
        last = Step(value, found.blocks)
    if last is not None:
        yield last


def _next_below(
    staircase: tuple[Step, ...], used: int, limits: ArchLimits, usage: Usage
) -> Step | None:
    blocks = occupancy(limits, usage).blocks
    better = (step for step in reversed(staircase) if step.most < used and step.blocks > blocks)
    return next(better, None)
