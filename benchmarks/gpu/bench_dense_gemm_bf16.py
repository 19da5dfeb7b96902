"""The dense products against cuBLAS through torch.matmul."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case, Phase

from gpu.compare import randn
from gpu.driver import Engine, torch

# Gate and up projection of an 8-billion-parameter model. Few rows are bound by reading the weights
# and have a kernel of their own; many are bound by arithmetic.
N, K = 14_336, 4096
CASES: list[tuple[str, Phase, int]] = [
    ("dense_gemm_bf16_decode", "decode", 1),
    ("dense_gemm_bf16_decode", "decode", 16),
    ("dense_gemm_bf16", "prefill", 2048),
    ("dense_gemm_bf16", "prefill", 8192),
]


def cases(engine: Engine) -> Iterator[Case]:
    """Rows from one token to a long prompt."""
    b = randn(N, K, seed=1, scale=K**-0.5)
    for entry, phase, m in CASES:
        a = randn(m, K)
        c, by_reference = a.new_empty(m, N), a.new_empty(m, N)
        yield Case(
            kernel=entry,
            phase=phase,
            shape=f"{m} × {N} × {K}",
            ours=engine.kernel(entry, entry).bind(a=a, b=b, c=c, m=m, n=N, k=K),
            reference=partial(torch.matmul, a, b.T, out=by_reference),
            reference_name="torch.matmul",
            bound="memory" if phase == "decode" else "compute",
            bytes_moved=a.nbytes + b.nbytes + c.nbytes,
            flops=0 if phase == "decode" else 2 * m * N * K,
        )
