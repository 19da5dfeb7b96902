"""dense_gemm_bf16 against an fp32 product."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def run(engine: Engine, a: Tensor, b: Tensor) -> Tensor:
    (m, k), n = a.shape, b.shape[0]
    kernel = engine.kernel("dense_gemm_bf16", "dense_gemm_bf16")
    return launch_twice(
        kernel,
        lambda: {"a": a, "b": b, "c": a.new_empty(m, n), "m": m, "n": n, "k": k},
        outputs=["c"],
    )["c"]


# One element; one tile; one token; each edge off the tile (n odd: the scalar store); k below a
# stage, not a multiple of one, and more stages than the ring has; more rows than a raster group.
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (1, 1, 8),
        (1, 8, 16),
        (128, 256, 32),
        (1, 4096, 4096),
        (129, 257, 72),
        (127, 264, 1000),
        (300, 513, 136),
        (64, 1000, 2048),
        (1200, 520, 328),
    ],
)
def test_matches_fp32(engine: Engine, m: int, n: int, k: int) -> None:
    a = randn(m, k, seed=1)
    b = randn(n, k, seed=2, scale=k**-0.5)
    assert_close(run(engine, a, b), a.float() @ b.float().T)


def test_rows_do_not_mix(engine: Engine) -> None:
    """NaN and infinity in one row of either operand show in its outputs alone."""
    a = randn(130, 264, seed=3)
    b = randn(258, 264, seed=4, scale=264**-0.5)
    clean = run(engine, a, b)
    a[129, 263] = float("nan")
    b[257, 0] = float("inf")
    got = run(engine, a, b)
    assert bool(torch.isnan(got[129]).all())
    assert not bool(torch.isfinite(got[:, 257]).any())
    assert_equal(got[:129, :257], clean[:129, :257])


def test_identity_is_exact(engine: Engine) -> None:
    a = randn(200, 512, seed=5)
    eye = torch.eye(512, dtype=torch.bfloat16, device="cuda")
    assert_equal(run(engine, a, eye), a)
