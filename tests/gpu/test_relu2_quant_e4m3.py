"""Squared ReLU with FP8 output, of the nemotron leaf: exact."""

from __future__ import annotations

import pytest

from .compare import assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def quantise(engine: Engine, x: Tensor, inv_scale: float) -> Tensor:
    return launch_twice(
        engine.kernel("relu2", "relu2_quant_e4m3", "nemotron-h-56b/fp8"),
        lambda: {
            "out": torch.empty(x.numel(), dtype=torch.float8_e4m3fn, device="cuda"),
            "x": x,
            "inv_scale": inv_scale,
            "n": x.numel(),
        },
        outputs=["out"],
    )["out"]


@pytest.mark.parametrize("n", [16, 4096, 8192, 8208, 1_000_000])
@pytest.mark.parametrize("inv_scale", [1.0, 0.37])
def test_relu2_quant(engine: Engine, n: int, inv_scale: float) -> None:
    x = randn(n, scale=4.0)
    squared = x.float().clamp(min=0.0).square() * inv_scale
    assert_equal(quantise(engine, x, inv_scale), squared.clamp(max=448.0).to(torch.float8_e4m3fn))


def test_relu2_quant_at_the_ends_of_the_range(engine: Engine) -> None:
    x = torch.zeros(16, dtype=torch.bfloat16, device="cuda")
    x[:5] = torch.tensor([float("inf"), -float("inf"), float("nan"), -1.0, 1e30])
    got = quantise(engine, x, 1.0).float()
    assert got[:5].nan_to_num(-1.0).tolist() == [448.0, 0.0, -1.0, 0.0, 448.0]
