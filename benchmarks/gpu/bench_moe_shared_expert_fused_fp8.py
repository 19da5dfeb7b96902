"""The decode-time shared expert, both halves, against the same layer with bf16 weights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch
from gpu.experts import random_e4m3

# (hidden, inter): a shared expert of Qwen3-Next's size, and one whose weights outgrow the L2.
SHAPES = [(2048, 512), (7168, 18432)]


def _gate_up(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    return torch.nn.functional.silu(x @ w_gate.T) * (x @ w_up.T)


def _down(routed: Tensor, gate_logit: Tensor, h: Tensor, w_down: Tensor) -> Tensor:
    return routed + gate_logit.sigmoid().unsqueeze(1).bfloat16() * (h @ w_down.T)


def cases(engine: Engine) -> Iterator[Case]:
    first = engine.kernel("moe_shared_expert_fused_fp8", "moe_shared_expert_fused_fp8")
    second = engine.kernel("moe_shared_expert_fused_fp8_down", "moe_shared_expert_fused_fp8_down")
    for hidden, inter in SHAPES:
        x, h, routed = randn(1, hidden), randn(1, inter), randn(1, hidden)
        w_gate = random_e4m3(inter, hidden, seed=1)
        w_up = random_e4m3(inter, hidden, seed=2)
        scale = torch.full((inter,), hidden**-0.5, device="cuda")
        yield Case(
            kernel="moe_shared_expert_fused_fp8",
            phase="decode",
            shape=f"1 token, hidden {hidden}, inter {inter}",
            ours=first.bind(
                h=torch.empty_like(h),
                x=x,
                w_gate=w_gate,
                w_up=w_up,
                scale_gate=scale,
                scale_up=scale,
                tokens=1,
                hidden=hidden,
                inter=inter,
            ),
            reference=partial(_gate_up, x, w_gate.bfloat16(), w_up.bfloat16()),
            reference_name="eager, bf16 weights",
            bound="memory",
            bytes_moved=w_gate.nbytes + w_up.nbytes + 2 * scale.nbytes + x.nbytes + h.nbytes,
        )
        w_down = random_e4m3(hidden, inter, seed=3)
        scale_down = torch.full((hidden,), inter**-0.5, device="cuda")
        gate_logit = torch.zeros(1, device="cuda")
        yield Case(
            kernel="moe_shared_expert_fused_fp8_down",
            phase="decode",
            shape=f"1 token, inter {inter}, hidden {hidden}",
            ours=second.bind(
                out=torch.empty_like(routed),
                routed=routed,
                h=h,
                w_down=w_down,
                scale=scale_down,
                gate_logit=gate_logit,
                tokens=1,
                inter=inter,
                hidden=hidden,
            ),
            reference=partial(_down, routed, gate_logit, h, w_down.bfloat16()),
            reference_name="eager, bf16 weights",
            bound="memory",
            bytes_moved=w_down.nbytes + scale_down.nbytes + h.nbytes + 2 * routed.nbytes,
        )
