"""Greedy sampling against torch.argmax."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, torch

VOCAB = 151_936


def cases(engine: Engine) -> Iterator[Case]:
    """One row (decode) and one row for each of 1024 positions (scoring a prefill)."""
    kernel = engine.kernel("argmax_bf16", "argmax_bf16")
    for phase, rows in zip(PHASES, (1, 1024), strict=True):
        logits = randn(rows, VOCAB)
        out = torch.empty(rows, dtype=torch.int32, device="cuda")
        yield Case(
            kernel="argmax_bf16",
            phase=phase,
            shape=f"{rows} × {VOCAB}",
            ours=kernel.bind(out=out, logits=logits, rows=rows, vocab=VOCAB, row_stride=VOCAB),
            reference=partial(torch.argmax, logits, dim=-1),
            reference_name="torch.argmax",
            # One row is one block's work: its bandwidth is a multiprocessor's, not the device's.
            bound="none" if rows == 1 else "memory",
            bytes_moved=logits.nbytes + out.nbytes,
        )
