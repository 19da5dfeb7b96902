"""What the next step of a staircase would give: with fewer registers, with less shared memory."""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.compile.archs import arch_limits
from cudalint.compile.occupancy import Usage, fewer_registers, less_shared


class NextStep(msgspec.Struct, frozen=True):
    """With `most` of a resource (`now` are used) an SM holds `blocks` blocks, more than now."""

    resource: Literal["registers", "shared memory"]
    now: int
    most: int
    blocks: int

    def __str__(self) -> str:
        unit = "registers" if self.resource == "registers" else "bytes of shared memory"
        return f"at most {self.most} {unit} ({self.now} now): {self.blocks} blocks"


def next_steps(arch: str, usage: Usage | None) -> tuple[NextStep, ...]:
    """The steps that lead to more blocks by themselves; none where occupancy is unknown."""
    limits = arch_limits(arch)
    if limits is None or usage is None:
        return ()
    found: list[NextStep] = []
    if (step := fewer_registers(limits, usage)) is not None:
        found.append(NextStep("registers", usage.registers, step.most, step.blocks))
    if (step := less_shared(limits, usage)) is not None:
        shared = usage.static_shared + usage.dynamic_shared
        found.append(NextStep("shared memory", shared, step.most, step.blocks))
    return tuple(found)
