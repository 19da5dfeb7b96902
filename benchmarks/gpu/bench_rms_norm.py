"""RMSNorm and its leaf variants against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

EPS = 1e-6
VARIANTS = [("", 4096), ("nemotron-h-56b/fp8", 8192), ("llama-3.2-1b/bf16", 2048)]


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, EPS)


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 16384."""
    compiled = torch.compile(rms_norm, dynamic=False)
    for leaf, hidden in VARIANTS:
        kernel = engine.kernel("rms_norm", "rms_norm", leaf)
        weight = randn(hidden, seed=1)
        for phase, rows in zip(PHASES, (64, 16_384), strict=True):
            x = randn(rows, hidden)
            out = torch.empty_like(x)
            yield Case(
                kernel="rms_norm",
                leaf=leaf,
                phase=phase,
                shape=f"{rows} × {hidden}",
                ours=kernel.bind(out=out, x=x, weight=weight, eps=EPS, rows=rows),
                reference=partial(compiled, x, weight),
                reference_name="torch.compile",
                bound="memory",
                bytes_moved=2 * x.nbytes + weight.nbytes,
            )
