"""w8a16_gemv against an fp32 product."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch


def weights(n: int, k: int, seed: int) -> Tensor:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randint(
        -128, 128, (n, k), generator=generator, device="cuda", dtype=torch.int32
    ).to(torch.int8)


def run(engine: Engine, x: Tensor, w: Tensor, scale: Tensor) -> Tensor:
    (tokens, k), n = x.shape, w.shape[0]
    return launch_twice(
        engine.kernel("w8a16_gemv", "w8a16_gemv"),
        lambda: {
            "x": x,
            "w": w,
            "scale": scale,
            "y": x.new_empty(tokens, n),
            "n": n,
            "k": k,
            "tokens": tokens,
        },
        outputs=["y"],
    )["y"]


# One chunk; fewer chunks than lanes; a last block part full; chunks that fill part of the second
# batch of loads; several tokens.
@pytest.mark.parametrize(
    ("tokens", "n", "k"),
    [
        (1, 1, 16),
        (1, 3, 160),
        (1, 33, 512),
        (3, 100, 2064),
        (1, 4096, 4096),
        (4, 1000, 14336),
    ],
)
def test_matches_fp32(engine: Engine, tokens: int, n: int, k: int) -> None:
    x = randn(tokens, k, seed=1)
    w = weights(n, k, seed=2)
    scale = randn(n, seed=3, dtype=torch.float32).abs() * (k**-0.5 / 64)
    assert_close(run(engine, x, w, scale), (x.float() @ w.float().T) * scale)


def test_each_weight_is_exact(engine: Engine) -> None:
    """One activation of one at each place picks the weights, -128 and 127 included."""
    w = torch.arange(-128, 128, device="cuda").to(torch.int8).reshape(8, 32)
    x = torch.eye(32, dtype=torch.bfloat16, device="cuda")
    got = run(engine, x, w, torch.ones(8, device="cuda"))
    assert torch.equal(got.float(), w.float().T)


def test_nan_and_infinity_pass(engine: Engine) -> None:
    x = randn(2, 528, seed=4)
    x[0, 527] = float("nan")
    x[1, 0] = float("-inf")
    w = weights(40, 528, seed=5).clamp(min=1)
    got = run(engine, x, w, torch.ones(40, device="cuda"))
    assert bool(torch.isnan(got[0]).all())
    assert bool((got[1] == float("-inf")).all())
