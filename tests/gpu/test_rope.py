"""Rotary embedding of queries and grouped keys, in place."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, launch_twice, torch
from .rotary import angle_table, rotate

# leaf, module, head dim, values that rotate
VARIANTS = [
    ("", "rope", 128, 128),
    ("qwen3-next-80b-a3b/nvfp4", "rope", 256, 64),
    ("llama-3.2-1b/bf16", "rotary", 64, 64),
]
MAX_POSITION = 4096


@pytest.mark.parametrize(("leaf", "module", "head_dim", "rotary_dim"), VARIANTS)
@pytest.mark.parametrize(
    ("tokens", "q_heads", "kv_heads"), [(1, 32, 8), (1, 1, 1), (17, 16, 2), (100, 5, 5), (33, 7, 1)]
)
def test_rope(
    engine: Engine,
    leaf: str,
    module: str,
    head_dim: int,
    rotary_dim: int,
    tokens: int,
    q_heads: int,
    kv_heads: int,
) -> None:
    q, k = randn(tokens, q_heads, head_dim), randn(tokens, kv_heads, head_dim, seed=1)
    table = angle_table(MAX_POSITION, rotary_dim)
    positions = (torch.arange(tokens, device="cuda", dtype=torch.int32) * 37 + 5) % MAX_POSITION
    got = launch_twice(
        engine.kernel(module, "rope", leaf),
        lambda: {
            "q": q.clone(),
            "k": k.clone(),
            "cos_sin": table,
            "positions": positions,
            "tokens": tokens,
            "q_heads": q_heads,
            "kv_heads": kv_heads,
        },
        outputs=[],
        inplace=["q", "k"],
    )
    assert_close(got["q"], rotate(q, table, positions))
    assert_close(got["k"], rotate(k, table, positions))
    assert_equal(got["q"][..., rotary_dim:], q[..., rotary_dim:])


def test_rope_at_position_zero_changes_nothing(engine: Engine) -> None:
    q, k = randn(3, 4, 128), randn(3, 2, 128, seed=1)
    q_before, k_before = q.clone(), k.clone()
    engine.kernel("rope", "rope").launch(
        q=q,
        k=k,
        cos_sin=angle_table(1, 128),
        positions=torch.zeros(3, dtype=torch.int32, device="cuda"),
        tokens=3,
        q_heads=4,
        kv_heads=2,
    )
    assert_equal(q, q_before)
    assert_equal(k, k_before)
