"""What one SM of each arch holds: threads, registers, shared memory, blocks.

Sources: the table "Technical Specifications per Compute Capability" of NVIDIA's
CUDA C++ Programming Guide, and for blocks per SM, shared memory configurations
and allocation units `cuda_occupancy.h` of the CUDA toolkit. The tests hold the
table to that header and to ptxas. What a kernel uses is no business of this file.
"""

from __future__ import annotations

from functools import cache

import msgspec

WARP = 32
THREADS_PER_BLOCK = 1024
REGISTERS_PER_THREAD = 255


class ArchLimits(msgspec.Struct, frozen=True):
    """The limits of one arch; sizes in bytes, `per_sm` and per block as the names say.

    `shared_per_block` is the most that a block may opt in to;
    `shared_reserved` what the driver takes for each block on top of its own.
    Registers are given to warps in portions of `register_unit`, each warp those of
    one of the SM's `partitions`. `barriers_per_sm` is 0 where their number does not
    limit the blocks.
    """

    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    shared_per_block: int
    barriers_per_sm: int = 0
    registers_per_sm: int = 65536
    shared_reserved: int = 1024
    shared_unit: int = 128
    register_unit: int = 256
    partitions: int = 4

    def register_ceiling(self, threads: int, blocks: int = 1) -> int:
        """The most registers a thread may use for `blocks` blocks of `threads` on one SM.

        0 when even the smallest portion is too much. Warps are spread over the
        SM's partitions, each with its share of the registers.
        """
        warps = -(-threads // WARP) * blocks
        per_partition = -(-warps // self.partitions)
        portion = self.registers_per_sm // self.partitions // per_partition
        per_thread = portion // self.register_unit * self.register_unit // WARP
        return min(per_thread, REGISTERS_PER_THREAD)


def _kib(threads: int, blocks: int, per_sm: int, per_block: int, barriers: int = 0) -> ArchLimits:
    return ArchLimits(threads, blocks, per_sm * 1024, per_block * 1024, barriers)


_LIMITS = {
    75: ArchLimits(1024, 16, 64 * 1024, 64 * 1024, shared_reserved=0, shared_unit=256),
    80: _kib(2048, 32, 164, 163),
    86: _kib(1536, 16, 100, 99),
    87: _kib(1536, 16, 164, 163),
    88: _kib(1536, 16, 100, 99),
    89: _kib(1536, 24, 100, 99),
    90: _kib(2048, 32, 228, 227, 64),
    100: _kib(2048, 32, 228, 227, 64),
    # Until CUDA 13.2 the header gave sm_103 the barriers of sm_100; that of 13.5 says 32.
    103: _kib(2048, 32, 228, 227, 32),
    110: _kib(1536, 24, 228, 227, 24),
    120: _kib(1536, 24, 100, 99, 24),
    121: _kib(1536, 24, 100, 99, 24),
}

ARCHS = tuple(f"sm_{number}" for number in _LIMITS)
"""The archs of the table, oldest first."""


@cache
def arch_number(arch: str) -> int:
    """The number in `sm_90a`: 90. It is 0 for what is no arch."""
    kind, _, rest = arch.partition("_")
    digits = rest[:-1] if rest.endswith(("a", "f")) else rest
    is_arch = kind in ("sm", "compute") and digits.isascii() and digits.isdecimal()
    return int(digits) if is_arch else 0


def arch_limits(arch: str) -> ArchLimits | None:
    """The limits of `sm_90`, `sm_121f`, …; None for an arch that the table lacks."""
    return _LIMITS.get(arch_number(arch))


def arch_order(arch: str) -> tuple[int, str]:
    """A sort key that puts `sm_90` before `sm_121`."""
    return arch_number(arch), arch
