"""dense_gemm_bf16_decode against an fp32 product."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def run(engine: Engine, a: Tensor, b: Tensor) -> Tensor:
    (m, k), n = a.shape, b.shape[0]
    kernel = engine.kernel("dense_gemm_bf16_decode", "dense_gemm_bf16_decode")
    return launch_twice(
        kernel,
        lambda: {"a": a, "b": b, "c": a.new_empty(m, n), "m": m, "n": n, "k": k},
        outputs=["c"],
    )["c"]


# One element; a token tile exactly and by one more; channels off the tile; k below a load, below a
# warp's turn, off it, and of several turns.
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (1, 1, 8),
        (1, 33, 104),
        (7, 32, 512),
        (8, 31, 520),
        (16, 4096, 4096),
        (17, 1000, 2056),
        (40, 64, 136),
    ],
)
def test_matches_fp32(engine: Engine, m: int, n: int, k: int) -> None:
    a = randn(m, k, seed=1)
    b = randn(n, k, seed=2, scale=k**-0.5)
    assert_close(run(engine, a, b), a.float() @ b.float().T)


def test_rows_do_not_mix(engine: Engine) -> None:
    """NaN and infinity in one row of either operand show in its outputs alone."""
    a = randn(16, 264, seed=3)
    b = randn(70, 264, seed=4, scale=264**-0.5)
    clean = run(engine, a, b)
    a[15, 263] = float("nan")
    b[69, 0] = float("inf")
    got = run(engine, a, b)
    assert bool(torch.isnan(got[15]).all())
    assert not bool(torch.isfinite(got[:, 69]).any())
    assert_equal(got[:15, :69], clean[:15, :69])


def test_identity_is_exact(engine: Engine) -> None:
    a = randn(16, 512, seed=5)
    eye = torch.eye(512, dtype=torch.bfloat16, device="cuda")
    assert_equal(run(engine, a, eye), a)
