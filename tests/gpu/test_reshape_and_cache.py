"""KV append to a paged cache: exact, padding tokens skipped, nothing else touched."""

from __future__ import annotations

import pytest

from .compare import assert_equal, randn
from .driver import Engine, launch_twice, torch

VARIANTS = [("", 128), ("qwen3-next-80b-a3b/nvfp4", 256), ("llama-3.2-1b/bf16", 64)]
PAGES, PAGE_TOKENS = 40, 16


@pytest.mark.parametrize(("leaf", "head_dim"), VARIANTS)
@pytest.mark.parametrize(("tokens", "kv_heads"), [(1, 1), (1, 8), (17, 2), (100, 3), (512, 8)])
def test_reshape_and_cache(
    engine: Engine, leaf: str, head_dim: int, tokens: int, kv_heads: int
) -> None:
    shape = (PAGES, PAGE_TOKENS, kv_heads, head_dim)
    key_cache, value_cache = randn(*shape, seed=2), randn(*shape, seed=3)
    k, v = randn(tokens, kv_heads, head_dim), randn(tokens, kv_heads, head_dim, seed=1)
    generator = torch.Generator(device="cuda").manual_seed(4)
    slots = torch.randperm(PAGES * PAGE_TOKENS, generator=generator, device="cuda")[:tokens].int()
    slots[tokens // 2 :: 5] = -1
    got = launch_twice(
        engine.kernel("reshape_and_cache", "reshape_and_cache", leaf),
        lambda: {
            "key_cache": key_cache.clone(),
            "value_cache": value_cache.clone(),
            "k": k,
            "v": v,
            "slots": slots,
            "tokens": tokens,
            "kv_heads": kv_heads,
        },
        outputs=[],
        inplace=["key_cache", "value_cache"],
    )
    kept = slots >= 0
    for cache, before, new in (("key_cache", key_cache, k), ("value_cache", value_cache, v)):
        wanted = before.clone().view(-1, kv_heads, head_dim)
        wanted[slots[kept].long()] = new[kept]
        assert_equal(got[cache], wanted.view(shape))
