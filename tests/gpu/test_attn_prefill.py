"""attn_prefill against attention in fp32."""

from __future__ import annotations

import pytest

from .attention import HEAD_DIM, SCALE, V_SCALE, attend_causal
from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def run(engine: Engine, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    batch, q_len, q_heads, _ = q.shape
    return launch_twice(
        engine.kernel("attn_prefill", "attn_prefill"),
        lambda: {
            "q": q,
            "k": k,
            "v": v,
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


# One token; less than a key tile; a query tile exactly and by one more; groups of 1, 2, 4 and 8;
# queries that continue a history, one alone and across tile borders.
@pytest.mark.parametrize(
    ("batch", "q_len", "kv_len", "q_heads", "kv_heads"),
    [
        (1, 1, 1, 1, 1),
        (2, 5, 5, 4, 2),
        (1, 32, 32, 2, 2),
        (1, 128, 128, 8, 8),
        (1, 129, 129, 4, 1),
        (2, 300, 300, 8, 1),
        (1, 1, 1000, 8, 2),
        (2, 200, 333, 8, 4),
        (1, 1024, 1024, 4, 2),
    ],
)
def test_matches_fp32(
    engine: Engine, batch: int, q_len: int, kv_len: int, q_heads: int, kv_heads: int
) -> None:
    q = randn(batch, q_len, q_heads, HEAD_DIM, seed=1)
    k = randn(batch, kv_len, kv_heads, HEAD_DIM, seed=2)
    v = randn(batch, kv_len, kv_heads, HEAD_DIM, seed=3, scale=V_SCALE)
    assert_close(run(engine, q, k, v), attend_causal(q, k, v))


def test_growing_scores_are_rescaled(engine: Engine) -> None:
    """Each key beats the ones before it by far, so that the maximum moves in every tile."""
    q = torch.ones(1, 256, 1, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
    k = (4 * torch.arange(256, device="cuda")).to(torch.bfloat16).reshape(1, 256, 1, 1)
    k = k.expand(1, 256, 1, HEAD_DIM).contiguous()
    v = randn(1, 256, 1, HEAD_DIM, seed=4)
    assert_equal(run(engine, q, k, v), v)


def test_later_tokens_do_not_leak(engine: Engine) -> None:
    """Rows before a changed token stay the same to the bit."""
    q = randn(1, 200, 2, HEAD_DIM, seed=5)
    k = randn(1, 200, 2, HEAD_DIM, seed=6)
    v = randn(1, 200, 2, HEAD_DIM, seed=7)
    before = run(engine, q, k, v)
    k[0, 150] = 30.0
    v[0, 150] = -30.0
    after = run(engine, q, k, v)
    assert_equal(after[:, :150], before[:, :150])
    assert not torch.equal(after[:, 150:], before[:, 150:])


def test_nan_query_stays_in_its_row(engine: Engine) -> None:
    q = randn(1, 70, 2, HEAD_DIM, seed=8)
    k = randn(1, 70, 1, HEAD_DIM, seed=9)
    v = randn(1, 70, 1, HEAD_DIM, seed=10)
    clean = run(engine, q, k, v)
    q[0, 40, 1, 3] = float("nan")
    got = run(engine, q, k, v)
    assert bool(torch.isnan(got[0, 40, 1]).all())
    got[0, 40, 1] = clean[0, 40, 1]
    assert_equal(got, clean)
