"""Paged decode attention, both phases, against SDPA on keys and values that lie dense."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from case import Case

from gpu.attention import HEAD_DIM, SCALE
from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

PAGE = 16
HEAD_TILE = 8
# Sequences, tokens of each, query heads, kv heads: a large batch, and one long context.
SHAPES = [(16, 16_384, 32, 8), (1, 131_072, 64, 8)]
BLOCKS_PER_SM = 2


def choose_splits(batch: int, q_heads: int, kv_heads: int) -> int:
    """As many splits as give every SM its blocks."""
    blocks = batch * kv_heads * -(-q_heads // kv_heads // HEAD_TILE)
    multiprocessors: int = torch.cuda.get_device_properties(0).multi_processor_count
    wanted = BLOCKS_PER_SM * multiprocessors
    return max(1, round(wanted / blocks))


def both_phases(
    engine: Engine, q: Tensor, keys: Tensor, values: Tensor, out: Tensor
) -> Callable[[], None]:
    """Keys and values are [batch][tokens][kv_heads][HEAD_DIM], read as pages in random order."""
    batch, q_heads, _ = q.shape
    _, tokens, kv_heads, _ = keys.shape
    pages = tokens // PAGE
    splits = choose_splits(batch, q_heads, kv_heads)
    table = torch.randperm(batch * pages, device="cuda").to(torch.int32).reshape(batch, pages)
    partial_o = torch.empty(batch, q_heads, splits, HEAD_DIM, device="cuda")
    partial_max, partial_sum = torch.empty(2, batch, q_heads, splits, device="cuda")
    attend = engine.kernel("paged_decode_attn", "paged_decode_attn").bind(
        q=q,
        k_cache=keys,
        v_cache=values,
        block_table=table,
        seq_lens=torch.full((batch,), tokens, dtype=torch.int32, device="cuda"),
        partial_o=partial_o,
        partial_max=partial_max,
        partial_sum=partial_sum,
        batch=batch,
        q_heads=q_heads,
        kv_heads=kv_heads,
        splits=splits,
        table_stride=pages,
        scale=SCALE,
    )
    reduce = engine.kernel("paged_decode_attn_reduce", "paged_decode_attn_reduce").bind(
        partial_o=partial_o,
        partial_max=partial_max,
        partial_sum=partial_sum,
        out=out,
        rows=batch * q_heads,
        splits=splits,
    )

    def call() -> None:
        attend()
        reduce()

    return call


def cases(engine: Engine) -> Iterator[Case]:
    """One new token per sequence."""
    for batch, tokens, q_heads, kv_heads in SHAPES:
        q = randn(batch, q_heads, HEAD_DIM)
        keys = randn(batch, tokens, kv_heads, HEAD_DIM, seed=1)
        values = randn(batch, tokens, kv_heads, HEAD_DIM, seed=2)
        out = torch.empty_like(q)
        dense = (q[:, :, None], keys.transpose(1, 2), values.transpose(1, 2))

        def reference(dense: tuple[Tensor, Tensor, Tensor] = dense) -> object:
            return torch.nn.functional.scaled_dot_product_attention(*dense, enable_gqa=True)

        yield Case(
            kernel="paged_decode_attn",
            phase="decode",
            shape=f"{batch} × {tokens} tokens, {q_heads} heads on {kv_heads}",
            ours=both_phases(engine, q, keys, values, out),
            reference=reference,
            reference_name="SDPA, dense",
            bound="memory",
            bytes_moved=q.nbytes + keys.nbytes + values.nbytes + out.nbytes,
        )
