"""paged_decode_attn, joined by paged_decode_attn_reduce, against attention in fp32."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from .attention import HEAD_DIM, SCALE, V_SCALE, attend
from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch

PAGE = 16


@dataclass(frozen=True)
class Cache:
    """Pages in random order; slots past each sequence's end hold NaN."""

    keys: Tensor
    values: Tensor
    table: Tensor
    lengths: Tensor
    dense: list[tuple[Tensor, Tensor]]


def fill_cache(lengths: list[int], kv_heads: int) -> Cache:
    pages = [-(-length // PAGE) for length in lengths]
    total = sum(pages) + 3
    generator = torch.Generator().manual_seed(7)
    order = torch.randperm(total, generator=generator).tolist()
    keys = torch.full((total, PAGE, kv_heads, HEAD_DIM), float("nan"), device="cuda")
    keys = keys.to(torch.bfloat16)
    values = keys.clone()
    table = torch.zeros(len(lengths), max(1, *pages), dtype=torch.int32)
    dense = []
    for row, length in enumerate(lengths):
        k = randn(length, kv_heads, HEAD_DIM, seed=10 + row)
        v = randn(length, kv_heads, HEAD_DIM, seed=50 + row, scale=V_SCALE)
        for index in range(pages[row]):
            page = order.pop()
            table[row, index] = page
            count = min(PAGE, length - index * PAGE)
            keys[page, :count] = k[index * PAGE : index * PAGE + count]
            values[page, :count] = v[index * PAGE : index * PAGE + count]
        dense.append((k, v))
    return Cache(keys, values, table.cuda(), torch.tensor(lengths, dtype=torch.int32).cuda(), dense)


def run(engine: Engine, q: Tensor, cache: Cache, splits: int) -> Tensor:
    batch, q_heads, _ = q.shape
    parts = launch_twice(
        engine.kernel("paged_decode_attn", "paged_decode_attn"),
        lambda: {
            "q": q,
            "k_cache": cache.keys,
            "v_cache": cache.values,
            "block_table": cache.table,
            "seq_lens": cache.lengths,
            "partial_o": torch.empty(batch, q_heads, splits, HEAD_DIM, device="cuda"),
            "partial_max": torch.empty(batch, q_heads, splits, device="cuda"),
            "partial_sum": torch.empty(batch, q_heads, splits, device="cuda"),
            "batch": batch,
            "q_heads": q_heads,
            "kv_heads": cache.keys.shape[2],
            "splits": splits,
            "table_stride": cache.table.shape[1],
            "scale": SCALE,
        },
        outputs=["partial_o", "partial_max", "partial_sum"],
    )
    return launch_twice(
        engine.kernel("paged_decode_attn_reduce", "paged_decode_attn_reduce"),
        lambda: {
            **parts,
            "out": torch.empty_like(q),
            "rows": batch * q_heads,
            "splits": splits,
        },
        outputs=["out"],
    )["out"]


def reference(q: Tensor, cache: Cache) -> Tensor:
    rows = []
    for row, (k, v) in enumerate(cache.dense):
        if k.shape[0] == 0:
            rows.append(torch.zeros(q.shape[1], HEAD_DIM, device="cuda"))
        else:
            visible = torch.ones(1, k.shape[0], dtype=torch.bool, device="cuda")
            rows.append(attend(q[row : row + 1], k, v, visible)[0])
    return torch.stack(rows)


# Groups of 1, 5, 8 and 12 (two blocks per kv head); an empty sequence, one token, a page but one,
# exactly and by one more; more splits than pages.
@pytest.mark.parametrize("splits", [1, 3, 40])
@pytest.mark.parametrize(("q_heads", "kv_heads"), [(2, 2), (5, 1), (32, 4), (24, 2)])
def test_matches_fp32(engine: Engine, q_heads: int, kv_heads: int, splits: int) -> None:
    lengths = [0, 1, 15, 16, 17, 333, 1024]
    cache = fill_cache(lengths, kv_heads)
    q = randn(len(lengths), q_heads, HEAD_DIM, seed=1)
    assert_close(run(engine, q, cache, splits), reference(q, cache))


def test_growing_scores_are_rescaled(engine: Engine) -> None:
    """Each key beats the ones before it, so that the maximum moves in every page."""
    cache = fill_cache([500], 1)
    q = torch.ones(1, 4, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
    rising = (torch.arange(512, device="cuda") / 4).to(torch.bfloat16)
    for index, page in enumerate(cache.table[0].tolist()):
        cache.keys[page] = rising[index * PAGE : (index + 1) * PAGE, None, None]
    keys = rising[:500, None, None].expand(500, 1, HEAD_DIM)
    visible = torch.ones(1, 500, dtype=torch.bool, device="cuda")
    assert_close(run(engine, q, cache, 2), attend(q, keys, cache.dense[0][1], visible))


def test_heads_and_sequences_do_not_mix(engine: Engine) -> None:
    """A changed head or neighbour leaves every other row as it was, to the bit."""
    cache = fill_cache([200, 90], 2)
    q = randn(2, 8, HEAD_DIM, seed=3)
    before = run(engine, q, cache, 2)
    q[0, 5] = float("nan")
    after = run(engine, q, cache, 2)
    assert bool(torch.isnan(after[0, 5]).all())
    after[0, 5] = before[0, 5]
    assert_equal(after, before)


def test_table_rows_may_be_longer(engine: Engine) -> None:
    """Entries past a sequence's pages are never followed."""
    cache = fill_cache([100, 20], 2)
    q = randn(2, 8, HEAD_DIM, seed=2)
    wide = torch.full((2, 64), -1, dtype=torch.int32, device="cuda")
    wide[:, : cache.table.shape[1]] = cache.table
    wide[1, 2:] = -1
    wider = Cache(cache.keys, cache.values, wide, cache.lengths, cache.dense)
    assert_equal(run(engine, q, wider, 3), run(engine, q, cache, 3))
