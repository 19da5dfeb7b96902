"""Squared ReLU with FP8 output against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

INTER = 32_768


def relu2(x: Tensor, inv_scale: float) -> Tensor:
    squared = x.float().relu().square() * inv_scale
    return squared.clamp(max=448.0).to(torch.float8_e4m3fn)


def cases(engine: Engine) -> Iterator[Case]:
    """Intermediate size 32768: a decode batch of 64 tokens and a prefill of 4096."""
    leaf = "nemotron-h-56b/fp8"
    kernel = engine.kernel("relu2", "relu2_quant_e4m3", leaf)
    compiled = torch.compile(relu2, dynamic=False)
    for phase, tokens in zip(PHASES, (64, 4096), strict=True):
        x = randn(tokens, INTER)
        out = torch.empty(tokens, INTER, dtype=torch.float8_e4m3fn, device="cuda")
        yield Case(
            kernel="relu2_quant_e4m3",
            leaf=leaf,
            phase=phase,
            shape=f"{tokens} × {INTER}",
            ours=kernel.bind(out=out, x=x, inv_scale=0.5, n=x.numel()),
            reference=partial(compiled, x, 0.5),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=x.nbytes + out.nbytes,
        )
