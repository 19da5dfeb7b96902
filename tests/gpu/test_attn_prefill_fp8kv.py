"""attn_prefill_fp8kv against attention in fp32 on the widened keys and values."""

from __future__ import annotations

import pytest

from .attention import HEAD_DIM, SCALE, V_SCALE, attend_causal
from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def run(
    engine: Engine, q: Tensor, k: Tensor, v: Tensor, k_scale: Tensor, v_scale: Tensor
) -> Tensor:
    batch, q_len, q_heads, _ = q.shape
    return launch_twice(
        engine.kernel("attn_prefill_fp8kv", "attn_prefill_fp8kv"),
        lambda: {
            "q": q,
            "k": k,
            "v": v,
            "k_scale": k_scale,
            "v_scale": v_scale,
            "out": torch.empty_like(q),
            "batch": batch,
            "q_len": q_len,
            "kv_len": k.shape[1],
            "q_heads": q_heads,
            "kv_heads": k.shape[2],
            "scale": SCALE,
        },
        outputs=["out"],
    )["out"]


def quantise(x: Tensor) -> tuple[Tensor, Tensor]:
    """x [batch][len][heads][dim] as e4m3 with one scale per head."""
    scale = x.float().abs().amax(dim=(0, 1, 3)) / 448.0
    return (x.float() / scale[:, None]).to(torch.float8_e4m3fn), scale


@pytest.mark.parametrize(
    ("batch", "q_len", "kv_len", "q_heads", "kv_heads"),
    [
        (1, 1, 1, 1, 1),
        (2, 5, 5, 4, 2),
        (1, 128, 128, 8, 8),
        (1, 129, 129, 4, 1),
        (1, 1, 1000, 8, 2),
        (2, 200, 333, 8, 4),
        (1, 1024, 1024, 4, 2),
    ],
)
def test_matches_fp32(
    engine: Engine, batch: int, q_len: int, kv_len: int, q_heads: int, kv_heads: int
) -> None:
    q = randn(batch, q_len, q_heads, HEAD_DIM, seed=1)
    k, k_scale = quantise(randn(batch, kv_len, kv_heads, HEAD_DIM, seed=2))
    v, v_scale = quantise(randn(batch, kv_len, kv_heads, HEAD_DIM, seed=3, scale=V_SCALE))
    keys = k.float() * k_scale[:, None]
    values = v.float() * v_scale[:, None]
    assert_close(run(engine, q, k, v, k_scale, v_scale), attend_causal(q, keys, values))


def test_every_e4m3_value_is_exact(engine: Engine) -> None:
    """A first token sees itself alone: its output is its value, for all 254 numbers."""
    codes = torch.arange(256, dtype=torch.int32, device="cuda").to(torch.uint8)
    codes = codes[(codes & 0x7F) != 0x7F]
    codes = torch.cat([codes, codes[:2]]).reshape(2, 1, 1, HEAD_DIM)
    v = codes.view(torch.float8_e4m3fn)
    q = randn(2, 1, 1, HEAD_DIM, seed=4)
    one = torch.ones(1, device="cuda")
    got = run(engine, q, torch.zeros_like(codes).view(torch.float8_e4m3fn), v, one, one)
    assert torch.equal(got.float(), v.float())


def test_nan_key_reaches_who_sees_it(engine: Engine) -> None:
    q = randn(1, 40, 1, HEAD_DIM, seed=5)
    k, k_scale = quantise(randn(1, 40, 1, HEAD_DIM, seed=6))
    v, v_scale = quantise(randn(1, 40, 1, HEAD_DIM, seed=7))
    clean = run(engine, q, k, v, k_scale, v_scale)
    k.view(torch.uint8)[0, 35, 0, 9] = 0x7F
    got = run(engine, q, k, v, k_scale, v_scale)
    assert bool(torch.isnan(got[:, 35:]).all())
    assert_equal(got[:, :35], clean[:, :35])
