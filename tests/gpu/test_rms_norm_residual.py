"""The fused residual add and RMSNorm of the llama leaf."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, launch_twice, torch

HIDDEN = 2048
EPS = 1e-5


@pytest.mark.parametrize("rows", [1, 2, 63, 512])
def test_rms_norm_residual(engine: Engine, rows: int) -> None:
    x, residual = randn(rows, HIDDEN), randn(rows, HIDDEN, seed=1, scale=4.0)
    weight = randn(HIDDEN, seed=2)
    got = launch_twice(
        engine.kernel("add_norm", "rms_norm_residual", "llama-3.2-1b/bf16"),
        lambda: {
            "out": torch.empty_like(x),
            "residual": residual.clone(),
            "x": x,
            "weight": weight,
            "eps": EPS,
            "rows": rows,
        },
        outputs=["out"],
        inplace=["residual"],
    )
    summed = residual + x
    assert_equal(got["residual"], summed)
    scale = torch.rsqrt(summed.float().square().mean(-1, keepdim=True) + EPS)
    assert_close(got["out"], summed.float() * scale * weight.float())
