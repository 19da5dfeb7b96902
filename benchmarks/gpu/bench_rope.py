"""Rotary embedding against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch
from gpu.rotary import angle_table, rotate

# leaf, module, head dim, values that rotate, query heads, kv heads
VARIANTS = [
    ("", "rope", 128, 128, 32, 8),
    ("llama-3.2-1b/bf16", "rotary", 64, 64, 32, 8),
    ("qwen3-next-80b-a3b/nvfp4", "rope", 256, 64, 16, 2),
]


def rotate_both(q: Tensor, k: Tensor, table: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    return rotate(q, table, positions).to(q.dtype), rotate(k, table, positions).to(k.dtype)


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 16384."""
    compiled = torch.compile(rotate_both, dynamic=False)
    for leaf, module, head_dim, rotary_dim, q_heads, kv_heads in VARIANTS:
        kernel = engine.kernel(module, "rope", leaf)
        table = angle_table(16_384, rotary_dim)
        for phase, tokens in zip(PHASES, (64, 16_384), strict=True):
            q, k = randn(tokens, q_heads, head_dim), randn(tokens, kv_heads, head_dim, seed=1)
            positions = torch.arange(tokens, device="cuda", dtype=torch.int32)
            rotated = tokens * (q_heads + kv_heads) * rotary_dim * q.element_size()
            yield Case(
                kernel="rope",
                leaf=leaf,
                phase=phase,
                shape=f"{tokens} × ({q_heads} + {kv_heads}) × {head_dim}, {rotary_dim} rotating",
                ours=kernel.bind(
                    q=q,
                    k=k,
                    cos_sin=table,
                    positions=positions,
                    tokens=tokens,
                    q_heads=q_heads,
                    kv_heads=kv_heads,
                ),
                reference=partial(compiled, q, k, table, positions),
                reference_name="torch.compile",
                bound="memory",
                bytes_moved=2 * rotated + tokens * rotary_dim * 4 + positions.nbytes,
            )
