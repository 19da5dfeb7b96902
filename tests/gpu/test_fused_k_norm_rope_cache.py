"""Key norm, rotation and KV append in one pass."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, launch_twice, torch
from .rotary import angle_table, rotate

# leaf, head dim, values that rotate, what is added to the norm's weights
VARIANTS = [("", 128, 128, 0.0), ("qwen3-next-80b-a3b/nvfp4", 256, 64, 1.0)]
PAGES, PAGE_TOKENS = 40, 16
MAX_POSITION = 2048
EPS = 1e-6


@pytest.mark.parametrize(("leaf", "head_dim", "rotary_dim", "base"), VARIANTS)
@pytest.mark.parametrize(("tokens", "kv_heads"), [(1, 1), (1, 2), (31, 2), (100, 3), (256, 8)])
def test_fused_k_norm_rope_cache(
    engine: Engine,
    leaf: str,
    head_dim: int,
    rotary_dim: int,
    base: float,
    tokens: int,
    kv_heads: int,
) -> None:
    shape = (PAGES, PAGE_TOKENS, kv_heads, head_dim)
    key_cache, value_cache = randn(*shape, seed=2), randn(*shape, seed=3)
    k, v = randn(tokens, kv_heads, head_dim, scale=3.0), randn(tokens, kv_heads, head_dim, seed=1)
    weight = randn(head_dim, seed=5)
    table = angle_table(MAX_POSITION, rotary_dim)
    positions = (torch.arange(tokens, device="cuda", dtype=torch.int32) * 41) % MAX_POSITION
    generator = torch.Generator(device="cuda").manual_seed(4)
    slots = torch.randperm(PAGES * PAGE_TOKENS, generator=generator, device="cuda")[:tokens].int()
    slots[tokens // 2 :: 7] = -1
    # A padding token's position may be anything: the kernel must not read its angles.
    positions[slots < 0] = 2_000_000_000
    got = launch_twice(
        engine.kernel("fused_k_norm_rope_cache", "fused_k_norm_rope_cache", leaf),
        lambda: {
            "key_cache": key_cache.clone(),
            "value_cache": value_cache.clone(),
            "k": k,
            "v": v,
            "weight": weight,
            "cos_sin": table,
            "positions": positions,
            "slots": slots,
            "eps": EPS,
            "tokens": tokens,
            "kv_heads": kv_heads,
        },
        outputs=[],
        inplace=["key_cache", "value_cache"],
    )
    kept = slots >= 0
    places = slots[kept].long()
    k32 = k[kept].float()
    normed = k32 * torch.rsqrt(k32.square().mean(-1, keepdim=True) + EPS) * (base + weight.float())

    wanted = key_cache.float().view(-1, kv_heads, head_dim)
    wanted[places] = rotate(normed, table, positions[kept])
    assert_close(got["key_cache"], wanted.view(shape))

    wanted_values = value_cache.clone().view(-1, kv_heads, head_dim)
    wanted_values[places] = v[kept]
    assert_equal(got["value_cache"], wanted_values.view(shape))

    untouched = torch.ones(PAGES * PAGE_TOKENS, dtype=torch.bool, device="cuda")
    untouched[places] = False
    flat = got["key_cache"].view(-1, kv_heads, head_dim)[untouched]
    assert_equal(flat, key_cache.view(-1, kv_heads, head_dim)[untouched])
