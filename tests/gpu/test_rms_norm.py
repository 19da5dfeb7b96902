"""RMSNorm and its leaf variants against an fp32 reference."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch

EPS = 1e-6
# leaf, hidden size, what is added to the weights
VARIANTS = [
    ("", 4096, 0.0),
    ("qwen3-next-80b-a3b/nvfp4", 2048, 1.0),
    ("nemotron-h-56b/fp8", 8192, 0.0),
    ("llama-3.2-1b/bf16", 2048, 0.0),
]


def reference(x: Tensor, weight: Tensor, base: float) -> Tensor:
    x32 = x.float()
    scale = torch.rsqrt(x32.square().mean(-1, keepdim=True) + EPS)
    return x32 * scale * (base + weight.float())


@pytest.mark.parametrize(("leaf", "hidden", "base"), VARIANTS)
@pytest.mark.parametrize("rows", [1, 3, 64, 1000])
def test_rms_norm(engine: Engine, leaf: str, hidden: int, base: float, rows: int) -> None:
    x, weight = randn(rows, hidden, scale=3.0), randn(hidden, seed=1)
    got = launch_twice(
        engine.kernel("rms_norm", "rms_norm", leaf),
        lambda: {"out": torch.empty_like(x), "x": x, "weight": weight, "eps": EPS, "rows": rows},
        outputs=["out"],
    )
    assert_close(got["out"], reference(x, weight, base))


def test_rms_norm_in_place(engine: Engine) -> None:
    x, weight = randn(5, 4096), randn(4096, seed=1)
    kernel = engine.kernel("rms_norm", "rms_norm")
    values = x.clone()
    kernel.launch(out=values, x=values, weight=weight, eps=EPS, rows=5)
    assert_close(values, reference(x, weight, 0.0))


def test_rms_norm_keeps_nan_and_infinity_in_their_rows(engine: Engine) -> None:
    x, weight = randn(4, 4096), randn(4096, seed=1)
    x[1, 7] = float("nan")
    x[2, 9] = float("inf")
    got = launch_twice(
        engine.kernel("rms_norm", "rms_norm"),
        lambda: {"out": torch.empty_like(x), "x": x, "weight": weight, "eps": EPS, "rows": 4},
        outputs=["out"],
    )["out"]
    assert bool(got[1].isnan().all())
    assert bool(got[2, 9].isnan())
    assert int(got[2].count_nonzero()) == 1
    assert_close(got[[0, 3]], reference(x, weight, 0.0)[[0, 3]])


def test_rms_norm_of_zeros_is_zero(engine: Engine) -> None:
    x, weight = torch.zeros(2, 4096, dtype=torch.bfloat16, device="cuda"), randn(4096)
    got = launch_twice(
        engine.kernel("rms_norm", "rms_norm"),
        lambda: {"out": torch.empty_like(x), "x": x, "weight": weight, "eps": EPS, "rows": 2},
        outputs=["out"],
    )["out"]
    assert int(got.count_nonzero()) == 0
