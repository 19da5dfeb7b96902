"""The int8 matrix-vector product against cuBLAS on weights widened to bf16 beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.compare import randn
from gpu.driver import Engine, torch

# Outputs and inputs: gate and up projection of a 70-billion-parameter model, down projection of an
# 8-billion-parameter one. A decode kernel has no prefill shape.
SHAPES = [(57_344, 8192), (4096, 14_336)]


def cases(engine: Engine) -> Iterator[Case]:
    """One token."""
    kernel = engine.kernel("w8a16_gemv", "w8a16_gemv")
    for n, k in SHAPES:
        x = randn(1, k)
        w = torch.randint(-128, 128, (n, k), dtype=torch.int8, device="cuda")
        scale = torch.full((n,), k**-0.5 / 64, device="cuda")
        widened = (w.float() * scale[:, None]).bfloat16()
        y, by_reference = x.new_empty(1, n), x.new_empty(1, n)
        yield Case(
            kernel="w8a16_gemv",
            phase="decode",
            shape=f"1 × {n} × {k}",
            ours=kernel.bind(x=x, w=w, scale=scale, y=y, n=n, k=k, tokens=1),
            reference=partial(torch.matmul, x, widened.T, out=by_reference),
            reference_name="torch.matmul, bf16 weights",
            bound="memory",
            bytes_moved=w.nbytes + x.nbytes + scale.nbytes + y.nbytes,
        )
