"""KV append against two indexed copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

KV_HEADS = 8
PAGE_TOKENS = 16
VARIANTS = [("", 128), ("llama-3.2-1b/bf16", 64)]


def two_copies(slots: Tensor, *pairs: tuple[Tensor, Tensor]) -> Callable[[], object]:
    places = slots.long()

    def copy() -> None:
        for cache, new in pairs:
            cache.view(-1, *new.shape[1:]).index_copy_(0, places, new)

    return copy


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 32768, in pages in no order."""
    for leaf, head_dim in VARIANTS:
        kernel = engine.kernel("reshape_and_cache", "reshape_and_cache", leaf)
        for phase, tokens in zip(PHASES, (64, 32_768), strict=True):
            pages = 4096
            cache_shape = (pages, PAGE_TOKENS, KV_HEADS, head_dim)
            keys = torch.zeros(cache_shape, dtype=torch.bfloat16, device="cuda")
            values = torch.zeros_like(keys)
            k, v = randn(tokens, KV_HEADS, head_dim), randn(tokens, KV_HEADS, head_dim, seed=1)
            order = torch.randperm(pages, device="cuda")[: tokens // PAGE_TOKENS, None]
            slots = (order * PAGE_TOKENS + torch.arange(PAGE_TOKENS, device="cuda")).flatten().int()
            yield Case(
                kernel="reshape_and_cache",
                leaf=leaf,
                phase=phase,
                shape=f"{tokens} × {KV_HEADS} × {head_dim}",
                ours=kernel.bind(
                    key_cache=keys,
                    value_cache=values,
                    k=k,
                    v=v,
                    slots=slots,
                    tokens=tokens,
                    kv_heads=KV_HEADS,
                ),
                reference=two_copies(slots, (keys, k), (values, v)),
                reference_name="two index_copy_",
                bound="memory",
                bytes_moved=4 * k.nbytes + slots.nbytes,
            )
