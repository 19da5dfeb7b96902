"""The gated norm of the qwen3-next leaf."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, launch_twice, torch

DIM = 128
EPS = 1e-6


@pytest.mark.parametrize("rows", [1, 15, 32, 33, 1000])
def test_gdn_gated_norm(engine: Engine, rows: int) -> None:
    x, gate = randn(rows, DIM, scale=2.0), randn(rows, DIM, seed=1, scale=3.0)
    weight = randn(DIM, seed=2, dtype=torch.float32)
    got = launch_twice(
        engine.kernel("gated_norm", "gdn_gated_norm", "qwen3-next-80b-a3b/nvfp4"),
        lambda: {
            "out": torch.empty_like(x),
            "x": x,
            "gate": gate,
            "weight": weight,
            "eps": EPS,
            "rows": rows,
        },
        outputs=["out"],
    )
    x32 = x.float()
    normed = x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + EPS) * weight
    assert_close(got["out"], normed * torch.nn.functional.silu(gate.float()))
