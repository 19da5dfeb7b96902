"""The residual add against torch.add."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, torch


def cases(engine: Engine) -> Iterator[Case]:
    """Hidden size 4096: a decode batch of 64 tokens and a prefill of 16384."""
    kernel = engine.kernel("bf16_add", "bf16_add")
    for phase, n in zip(PHASES, (64 * 4096, 16_384 * 4096), strict=True):
        a, b = randn(n), randn(n, seed=1)
        out = torch.empty_like(a)
        yield Case(
            kernel="bf16_add",
            phase=phase,
            shape=f"{n // 4096} × 4096",
            ours=kernel.bind(out=out, a=a, b=b, n=n),
            reference=partial(torch.add, a, b, out=out),
            reference_name="torch.add",
            bound="memory",
            bytes_moved=3 * a.nbytes,
        )
