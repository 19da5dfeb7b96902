"""Fused key norm, rotation and append against torch.compile of the same steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch
from gpu.rotary import angle_table, rotate

KV_HEADS, HEAD_DIM = 8, 128
EPS = 1e-6
SLOTS = 65_536


def append(
    keys: Tensor,
    values: Tensor,
    k: Tensor,
    v: Tensor,
    weight: Tensor,
    table: Tensor,
    positions: Tensor,
    slots: Tensor,
) -> None:
    normed = torch.nn.functional.rms_norm(k.float(), (HEAD_DIM,), weight.float(), EPS)
    keys.index_copy_(0, slots, rotate(normed, table, positions).to(k.dtype))
    values.index_copy_(0, slots, v)


def cases(engine: Engine) -> Iterator[Case]:
    """A decode batch of 64 tokens and a prefill of 32768."""
    kernel = engine.kernel("fused_k_norm_rope_cache", "fused_k_norm_rope_cache")
    compiled = torch.compile(append, dynamic=False)
    weight, table = randn(HEAD_DIM, seed=5), angle_table(32_768, HEAD_DIM)
    keys = torch.zeros(SLOTS, KV_HEADS, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
    values = torch.zeros_like(keys)
    for phase, tokens in zip(PHASES, (64, 32_768), strict=True):
        k, v = randn(tokens, KV_HEADS, HEAD_DIM), randn(tokens, KV_HEADS, HEAD_DIM, seed=1)
        positions = torch.arange(tokens, device="cuda", dtype=torch.int32)
        slots = torch.randperm(SLOTS, device="cuda")[:tokens]
        yield Case(
            kernel="fused_k_norm_rope_cache",
            phase=phase,
            shape=f"{tokens} × {KV_HEADS} × {HEAD_DIM}",
            ours=kernel.bind(
                key_cache=keys,
                value_cache=values,
                k=k,
                v=v,
                weight=weight,
                cos_sin=table,
                positions=positions,
                slots=slots.int(),
                eps=EPS,
                tokens=tokens,
                kv_heads=KV_HEADS,
            ),
            reference=partial(compiled, keys, values, k, v, weight, table, positions, slots),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=4 * k.nbytes + tokens * (HEAD_DIM * 4 + 8),
        )
