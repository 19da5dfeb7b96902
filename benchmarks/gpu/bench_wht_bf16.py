"""The Walsh-Hadamard transform against a product with the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, torch

DIM = 128


def cases(engine: Engine) -> Iterator[Case]:
    """Eight kv heads of 64 tokens (decode) and of 65536 (prefill)."""
    kernel = engine.kernel("wht_bf16", "wht_bf16")
    matrix = randn(DIM, DIM, seed=1)
    for phase, rows in zip(PHASES, (64 * 8, 65_536 * 8), strict=True):
        x = randn(rows, DIM)
        out = torch.empty_like(x)
        yield Case(
            kernel="wht_bf16",
            phase=phase,
            shape=f"{rows} × {DIM}",
            ours=kernel.bind(out=out, x=x, rows=rows),
            reference=partial(torch.matmul, x, matrix, out=out),
            reference_name="torch.matmul",
            bound="memory",
            bytes_moved=2 * x.nbytes,
        )
