"""The fused residual add and norm against torch.compile of the same two steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

HIDDEN = 2048
EPS = 1e-5


def add_norm(residual: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    summed = residual + x
    return summed, torch.nn.functional.rms_norm(summed, (HIDDEN,), weight, EPS)


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 16384."""
    leaf = "llama-3.2-1b/bf16"
    kernel = engine.kernel("add_norm", "rms_norm_residual", leaf)
    compiled = torch.compile(add_norm, dynamic=False)
    weight = randn(HIDDEN, seed=2)
    for phase, rows in zip(PHASES, (64, 16_384), strict=True):
        x, residual = randn(rows, HIDDEN), randn(rows, HIDDEN, seed=1)
        out = torch.empty_like(x)
        yield Case(
            kernel="rms_norm_residual",
            leaf=leaf,
            phase=phase,
            shape=f"{rows} × {HIDDEN}",
            ours=kernel.bind(out=out, residual=residual, x=x, weight=weight, eps=EPS, rows=rows),
            reference=partial(compiled, residual, x, weight),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=4 * x.nbytes + weight.nbytes,
        )
