"""paged_decode_attn_reduce alone, on partial results made up here."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch

HEAD_DIM = 128


def run(engine: Engine, o: Tensor, top: Tensor, total: Tensor) -> Tensor:
    rows, splits, _ = o.shape
    return launch_twice(
        engine.kernel("paged_decode_attn_reduce", "paged_decode_attn_reduce"),
        lambda: {
            "partial_o": o,
            "partial_max": top,
            "partial_sum": total,
            "out": torch.empty(rows, HEAD_DIM, dtype=torch.bfloat16, device="cuda"),
            "rows": rows,
            "splits": splits,
        },
        outputs=["out"],
    )["out"]


@pytest.mark.parametrize(("rows", "splits"), [(1, 1), (3, 2), (64, 33), (130, 100)])
def test_matches_fp32(engine: Engine, rows: int, splits: int) -> None:
    o = randn(rows, splits, HEAD_DIM, seed=1, dtype=torch.float32)
    top = randn(rows, splits, seed=2, dtype=torch.float32, scale=5.0)
    total = randn(rows, splits, seed=3, dtype=torch.float32).abs() + 1.0
    weight = torch.exp2(top - top.amax(dim=1, keepdim=True))
    wanted = (weight[..., None] * o).sum(dim=1) / (weight * total).sum(dim=1, keepdim=True)
    assert_close(run(engine, o, top, total), wanted)


def test_empty_splits_count_for_nothing(engine: Engine) -> None:
    """Row 0 has no token at all; in row 1 only split 2 has any."""
    o = torch.zeros(2, 4, HEAD_DIM, device="cuda")
    top = torch.full((2, 4), float("-inf"), device="cuda")
    total = torch.zeros(2, 4, device="cuda")
    o[1, 2] = randn(HEAD_DIM, seed=4).float()
    top[1, 2] = -300.0
    total[1, 2] = 1.0
    got = run(engine, o, top, total)
    assert torch.equal(got[0].float(), torch.zeros(HEAD_DIM, device="cuda"))
    assert torch.equal(got[1].float(), o[1, 2])
