"""What one row of the kernel benchmark is. Measuring is ``timing.py``'s, writing ``report.py``'s.

Each ``bench_<stem>.py`` in this folder defines

    def cases(engine: Engine) -> Iterator[Case]: ...

which makes its tensors when the iterator reaches a case, so that only one case's are alive:

    from case import Case
    from gpu.compare import randn
    from gpu.driver import Engine, torch

    def cases(engine: Engine) -> Iterator[Case]:
        kernel = engine.kernel("bf16_add", "bf16_add")
        a, b = randn(1 << 20), randn(1 << 20, seed=1)
        out = torch.empty_like(a)
        yield Case(
            kernel="bf16_add", phase="decode", shape="n = 1048576",
            ours=kernel.bind(out=out, a=a, b=b, n=a.numel()),
            reference=lambda: torch.add(a, b), reference_name="torch.add",
            bound="memory", bytes_moved=3 * out.nbytes,
        )
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["decode", "prefill"]
# In the order in which a benchmark gives its two shapes.
PHASES: tuple[Phase, Phase] = ("decode", "prefill")


@dataclass(frozen=True)
class Case:
    """One kernel at one shape.

    ``ours`` and ``reference`` only enqueue work on the current stream, which is the engine's.
    ``bytes_moved`` is the least traffic the computation needs: each input read once and each
    output written once. ``bound`` says what the kernel is held to: "memory" to 75 % of the
    bandwidth of a device copy that moves as many bytes, "compute" to half of the reference's
    speed, "none" to nothing. ``flops`` is 0 where the rate of arithmetic says nothing.
    """

    kernel: str
    phase: Phase
    shape: str
    ours: Callable[[], object]
    reference: Callable[[], object]
    reference_name: str
    bound: Literal["memory", "compute", "none"]
    bytes_moved: int
    flops: int = 0
    leaf: str = ""


@dataclass(frozen=True)
class Result:
    """A measured case: medians in microseconds. ``copy_us`` is a copy of as many bytes."""

    case: Case
    ours_us: float
    reference_us: float
    copy_us: float

    @property
    def speedup(self) -> float:
        """How many times as fast as the reference."""
        return self.reference_us / self.ours_us

    @property
    def copy_share(self) -> float:
        """Bandwidth relative to the copy's."""
        return self.copy_us / self.ours_us

    @property
    def gigabytes_per_second(self) -> float:
        return self.case.bytes_moved / self.ours_us / 1e3

    @property
    def teraflops(self) -> float:
        return self.case.flops / self.ours_us / 1e6
