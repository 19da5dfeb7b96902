"""Prefill attention, bf16 and fp8 keys and values, against SDPA on bf16."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.attention import HEAD_DIM, SCALE
from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

Q_HEADS, KV_HEADS = 32, 8
# Batch and tokens: one long prompt, and several short ones. A prefill kernel has no decode shape.
SHAPES = [(1, 8192), (4, 2048)]


def sdpa(q: Tensor, k: Tensor, v: Tensor) -> partial[Tensor]:
    """PyTorch's own choice of backend; it takes [batch][heads][tokens][dim] views."""
    return partial(
        torch.nn.functional.scaled_dot_product_attention,
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        is_causal=True,
        enable_gqa=True,
    )


def cases(engine: Engine) -> Iterator[Case]:
    """Causal, 32 query heads on 8 kv heads."""
    bf16 = engine.kernel("attn_prefill", "attn_prefill")
    fp8 = engine.kernel("attn_prefill_fp8kv", "attn_prefill_fp8kv")
    for batch, tokens in SHAPES:
        q = randn(batch, tokens, Q_HEADS, HEAD_DIM)
        k = randn(batch, tokens, KV_HEADS, HEAD_DIM, seed=1)
        v = randn(batch, tokens, KV_HEADS, HEAD_DIM, seed=2)
        k_fp8, v_fp8 = k.to(torch.float8_e4m3fn), v.to(torch.float8_e4m3fn)
        ones = torch.ones(KV_HEADS, device="cuda")
        out = torch.empty_like(q)
        sizes = {
            "out": out,
            "batch": batch,
            "q_len": tokens,
            "kv_len": tokens,
            "q_heads": Q_HEADS,
            "kv_heads": KV_HEADS,
            "scale": SCALE,
        }
        calls = {
            "attn_prefill": (bf16.bind(q=q, k=k, v=v, **sizes), k.nbytes + v.nbytes),
            "attn_prefill_fp8kv": (
                fp8.bind(q=q, k=k_fp8, v=v_fp8, k_scale=ones, v_scale=ones, **sizes),
                k_fp8.nbytes + v_fp8.nbytes,
            ),
        }
        for name, (call, kv_bytes) in calls.items():
            yield Case(
                kernel=name,
                phase="prefill",
                shape=f"{batch} × {tokens} tokens, {Q_HEADS} heads on {KV_HEADS}",
                ours=call,
                reference=sdpa(q, k, v),
                reference_name="SDPA, bf16",
                bound="compute",
                bytes_moved=q.nbytes + kv_bytes + out.nbytes,
                flops=2 * batch * Q_HEADS * tokens * (tokens + 1) * HEAD_DIM,
            )
