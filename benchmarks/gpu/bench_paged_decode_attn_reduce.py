"""The joining of attention splits against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.attention import HEAD_DIM
from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

# Rows (a query head of a sequence each) and splits: few long sequences, and a large batch.
SHAPES = [(256, 32), (8192, 16)]


def join(o: Tensor, top: Tensor, total: Tensor) -> Tensor:
    weight = torch.exp2(top - top.amax(dim=1, keepdim=True))
    summed = (weight[..., None] * o).sum(dim=1)
    return (summed / (weight * total).sum(dim=1, keepdim=True)).to(torch.bfloat16)


def cases(engine: Engine) -> Iterator[Case]:
    """A decode kernel has no prefill shape."""
    kernel = engine.kernel("paged_decode_attn_reduce", "paged_decode_attn_reduce")
    compiled = torch.compile(join, dynamic=False)
    for rows, splits in SHAPES:
        o = randn(rows, splits, HEAD_DIM, dtype=torch.float32)
        top = randn(rows, splits, seed=1, dtype=torch.float32)
        total = top.abs() + 1.0
        out = torch.empty(rows, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
        yield Case(
            kernel="paged_decode_attn_reduce",
            phase="decode",
            shape=f"{rows} rows of {splits} splits",
            ours=kernel.bind(
                partial_o=o,
                partial_max=top,
                partial_sum=total,
                out=out,
                rows=rows,
                splits=splits,
            ),
            reference=partial(compiled, o, top, total),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=o.nbytes + 2 * top.nbytes + out.nbytes,
        )
