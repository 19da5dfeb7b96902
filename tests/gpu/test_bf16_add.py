"""The element-wise bf16 sum."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, launch_twice, torch


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4095, 4096, 4097, 1_000_003])
def test_bf16_add(engine: Engine, n: int) -> None:
    a, b = randn(n), randn(n, seed=1)
    got = launch_twice(
        engine.kernel("bf16_add", "bf16_add"),
        lambda: {"out": torch.empty_like(a), "a": a, "b": b, "n": n},
        outputs=["out"],
    )
    assert_equal(got["out"], a + b)


def test_bf16_add_into_an_input(engine: Engine) -> None:
    a, b = randn(5000), randn(5000, seed=1)
    values = a.clone()
    engine.kernel("bf16_add", "bf16_add").launch(out=values, a=values, b=b, n=5000)
    assert_equal(values, a + b)


def test_bf16_add_stays_within_its_length(engine: Engine) -> None:
    a, b = randn(64), randn(64, seed=1)
    out = torch.full_like(a, 5.0)
    engine.kernel("bf16_add", "bf16_add").launch(out=out, a=a, b=b, n=35)
    assert_equal(out[:35], (a + b)[:35])
    assert bool((out[35:] == 5.0).all())


def test_bf16_add_of_nan_and_infinity(engine: Engine) -> None:
    inf, nan = float("inf"), float("nan")
    a = torch.tensor([inf, inf, nan, 1.0, 3e38], dtype=torch.bfloat16, device="cuda")
    b = torch.tensor([1.0, -inf, 1.0, nan, 3e38], dtype=torch.bfloat16, device="cuda")
    out = torch.empty_like(a)
    engine.kernel("bf16_add", "bf16_add").launch(out=out, a=a, b=b, n=5)
    assert_close(out, (a + b).float(), 0.0, 0.0)
