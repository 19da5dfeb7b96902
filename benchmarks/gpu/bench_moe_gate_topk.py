"""Expert choice against torch.topk and softmax."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

TOP_K = 10
VARIANTS = [("", 256), ("qwen3-next-80b-a3b/nvfp4", 512)]


def choose(logits: Tensor) -> tuple[Tensor, Tensor]:
    best, experts = torch.topk(logits.float(), TOP_K, dim=-1)
    return best.softmax(-1), experts


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 16384."""
    for leaf, experts in VARIANTS:
        kernel = engine.kernel("moe_gate_topk", "moe_gate_topk", leaf)
        for phase, tokens in zip(PHASES, (64, 16_384), strict=True):
            logits = randn(tokens, experts)
            weights = torch.empty(tokens, TOP_K, device="cuda")
            chosen = torch.empty(tokens, TOP_K, dtype=torch.int32, device="cuda")
            yield Case(
                kernel="moe_gate_topk",
                leaf=leaf,
                phase=phase,
                shape=f"{tokens} × {experts}",
                ours=kernel.bind(weights=weights, experts=chosen, logits=logits, tokens=tokens),
                reference=partial(choose, logits),
                reference_name="torch.topk + softmax",
                # Ten rounds of selection per token: limited by their latency, not by memory.
                bound="compute",
                bytes_moved=logits.nbytes + weights.nbytes + chosen.nbytes,
            )
