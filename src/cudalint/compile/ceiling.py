"""Registers held to what a kernel's launch bounds and its arch leave.

ptxas keeps to the bounds where it can. Where a kernel has more registers, ptxas
has dropped the minimum number of blocks as impossible.
"""

from __future__ import annotations

from cudalint.compile.archs import REGISTERS_PER_THREAD, THREADS_PER_BLOCK, arch_limits
from cudalint.compile.kernels import Group
from cudalint.compile.model import FunctionResources


def at_cliff(function: FunctionResources) -> bool:
    """Whether it uses as many registers as a thread can have."""
    return (function.registers or 0) >= REGISTERS_PER_THREAD


def ceiling(function: FunctionResources) -> int:
    """The registers that launch bounds and arch leave; 255 when either is unknown.

    Bounds of more threads than a block can have are no bounds: CU109 reports them.
    """
    limits = arch_limits(function.arch)
    threads = function.max_threads
    if limits is None or threads is None or threads > THREADS_PER_BLOCK:
        return REGISTERS_PER_THREAD
    return limits.register_ceiling(threads, function.min_blocks or 1)


def over_bounds(function: FunctionResources) -> bool:
    """Whether it uses more registers than its bounds leave."""
    return (function.registers or 0) > ceiling(function)


def tells_of_bounds(group: Group) -> bool:
    """Whether the bounds are what there is to say of a group: the cliff is worse."""
    functions = [build.function for build in group.builds]
    return any(map(over_bounds, functions)) and not any(map(at_cliff, functions))
