"""The transpose of block scales against torch's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, torch


def cases(engine: Engine) -> Iterator[Case]:
    """Blocks of 128 over 7168 columns: 64 tokens (decode), 131072 in one batch (prefill)."""
    kernel = engine.kernel("fp8_scale_transpose", "fp8_scale_transpose")
    cols = 56
    for phase, rows in zip(PHASES, (64, 131_072), strict=True):
        scales = randn(rows, cols, dtype=torch.float32)
        out = torch.empty(cols, rows, device="cuda")
        yield Case(
            kernel="fp8_scale_transpose",
            phase=phase,
            shape=f"{rows} × {cols}",
            ours=kernel.bind(out=out, scales=scales, rows=rows, cols=cols, out_stride=rows),
            reference=partial(out.copy_, scales.T),
            reference_name="torch copy_ of .T",
            bound="memory",
            bytes_moved=scales.nbytes + out.nbytes,
        )
