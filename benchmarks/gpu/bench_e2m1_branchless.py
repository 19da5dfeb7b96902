"""NVFP4 quantisation against torch.compile of the same rounding by a search in the midpoints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

HIDDEN = 4096


def quantise(x: Tensor, midpoints: Tensor) -> tuple[Tensor, Tensor]:
    groups = x.view(-1, 16)
    scales = (groups.abs().amax(-1) / 6.0).clamp(max=448.0).to(torch.float8_e4m3fn)
    scaled = groups / scales.float()[:, None]
    codes = torch.bucketize(scaled.abs(), midpoints) + 8 * (scaled < 0)
    pairs = codes.to(torch.uint8).view(-1, 2)
    return pairs[:, 0] | pairs[:, 1] << 4, scales


def cases(engine: Engine) -> Iterator[Case]:
    """Hidden size 4096: a decode batch of 64 tokens and a prefill of 16384."""
    kernel = engine.kernel("e2m1_branchless", "e2m1_branchless")
    compiled = torch.compile(quantise, dynamic=False)
    midpoints = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], device="cuda")
    for phase, n in zip(PHASES, (64 * HIDDEN, 16_384 * HIDDEN), strict=True):
        x = randn(n, dtype=torch.float32)
        packed = torch.empty(n // 2, dtype=torch.uint8, device="cuda")
        scales = torch.empty(n // 16, dtype=torch.float8_e4m3fn, device="cuda")
        yield Case(
            kernel="e2m1_branchless",
            phase=phase,
            shape=f"{n // HIDDEN} × {HIDDEN}",
            ours=kernel.bind(packed=packed, scales=scales, x=x, inv_global=1.0, n=n),
            reference=partial(compiled, x, midpoints),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=x.nbytes + packed.nbytes + scales.nbytes,
        )
