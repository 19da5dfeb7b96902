"""The gated norm of the qwen3-next leaf against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

DIM, VALUE_HEADS = 128, 32
EPS = 1e-6


def gated_norm(x: Tensor, gate: Tensor, weight: Tensor) -> Tensor:
    normed = torch.nn.functional.rms_norm(x.float(), (DIM,), weight, EPS)
    return (normed * torch.nn.functional.silu(gate.float())).to(x.dtype)


def cases(engine: Engine) -> Iterator[Case]:
    """32 value heads of 64 tokens (decode) and of 16384 (prefill)."""
    leaf = "qwen3-next-80b-a3b/nvfp4"
    kernel = engine.kernel("gated_norm", "gdn_gated_norm", leaf)
    compiled = torch.compile(gated_norm, dynamic=False)
    weight = randn(DIM, seed=2, dtype=torch.float32)
    for phase, rows in zip(PHASES, (64 * VALUE_HEADS, 16_384 * VALUE_HEADS), strict=True):
        x, gate = randn(rows, DIM), randn(rows, DIM, seed=1)
        out = torch.empty_like(x)
        yield Case(
            kernel="gdn_gated_norm",
            leaf=leaf,
            phase=phase,
            shape=f"{rows} × {DIM}",
            ours=kernel.bind(out=out, x=x, gate=gate, weight=weight, eps=EPS, rows=rows),
            reference=partial(compiled, x, gate, weight),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=3 * x.nbytes + weight.nbytes,
        )
