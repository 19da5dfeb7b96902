"""Taking a gated delta-net layer's fused projections apart, against the eager operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from case import Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

KEY_HEADS, VALUE_HEADS, DIM = 16, 32, 128
GROUP = VALUE_HEADS // KEY_HEADS


def _eager(
    qkvz: Tensor, ba: Tensor, a_log: Tensor, dt_bias: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    q, k, v, z = qkvz.split([DIM, DIM, GROUP * DIM, GROUP * DIM], dim=-1)
    b, a = ba.split([GROUP, GROUP], dim=-1)
    mixed = torch.cat((q.flatten(1), k.flatten(1), v.flatten(1)), dim=-1)
    softplus = torch.nn.functional.softplus(a.flatten(1).float() + dt_bias)
    return mixed, z.flatten(1), -a_log.exp() * softplus, b.flatten(1).float().sigmoid()


def cases(engine: Engine) -> Iterator[Case]:
    kernel = engine.kernel("ssm_preprocess", "ssm_preprocess")
    a_log = randn(VALUE_HEADS, dtype=torch.float32)
    dt_bias = randn(VALUE_HEADS, seed=1, dtype=torch.float32)
    shapes: tuple[tuple[Literal["decode", "prefill"], int], ...] = (
        ("decode", 1),
        ("decode", 256),
        ("prefill", 8192),
    )
    for phase, tokens in shapes:
        qkvz = randn(tokens, KEY_HEADS, 2 * DIM * (1 + GROUP))
        ba = randn(tokens, KEY_HEADS, 2 * GROUP, seed=2)
        gates = torch.empty(2, tokens, VALUE_HEADS, device="cuda")
        mixed_dim = (2 * KEY_HEADS + VALUE_HEADS) * DIM
        yield Case(
            kernel="ssm_preprocess",
            phase=phase,
            shape=f"{tokens} token(s), {KEY_HEADS} key and {VALUE_HEADS} value heads",
            ours=kernel.bind(
                mixed=torch.empty(tokens, mixed_dim, dtype=torch.bfloat16, device="cuda"),
                z=torch.empty(tokens, VALUE_HEADS * DIM, dtype=torch.bfloat16, device="cuda"),
                g=gates[0],
                beta=gates[1],
                qkvz=qkvz,
                ba=ba,
                a_log=a_log,
                dt_bias=dt_bias,
                tokens=tokens,
                key_heads=KEY_HEADS,
                value_heads=VALUE_HEADS,
            ),
            reference=partial(_eager, qkvz, ba, a_log, dt_bias),
            reference_name="eager",
            bound="memory",
            bytes_moved=2 * qkvz.nbytes + ba.nbytes + gates.nbytes,
        )
