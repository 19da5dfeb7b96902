"""Both halves of the decode-time shared expert with fp8 weights."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch
from .experts import random_e4m3

# Lengths that end within a warp's step of 512 weights, at it, and one 16-byte load past it.
SHAPES = [(1, 16, 1), (1, 512, 9), (3, 528, 24), (4, 2048, 37)]


def _scale(channels: int, depth: int, seed: int) -> Tensor:
    return (randn(channels, seed=seed, dtype=torch.float32).abs() + 0.5) * depth**-0.5


@pytest.mark.parametrize(("tokens", "hidden", "inter"), SHAPES, ids=str)
def test_gate_and_up_match(engine: Engine, tokens: int, hidden: int, inter: int) -> None:
    x = randn(tokens, hidden)
    w_gate, w_up = random_e4m3(inter, hidden, seed=1), random_e4m3(inter, hidden, seed=2)
    scale_gate, scale_up = _scale(inter, hidden, 3), _scale(inter, hidden, 4)
    got = launch_twice(
        engine.kernel("moe_shared_expert_fused_fp8", "moe_shared_expert_fused_fp8"),
        lambda: {
            "h": torch.empty(tokens, inter, dtype=torch.bfloat16, device="cuda"),
            "x": x,
            "w_gate": w_gate,
            "w_up": w_up,
            "scale_gate": scale_gate,
            "scale_up": scale_up,
            "tokens": tokens,
            "hidden": hidden,
            "inter": inter,
        },
        outputs=["h"],
    )["h"]
    gate = (x.float() @ w_gate.float().T) * scale_gate
    up = (x.float() @ w_up.float().T) * scale_up
    assert_close(got, torch.nn.functional.silu(gate) * up)


@pytest.mark.parametrize(("tokens", "inter", "hidden"), SHAPES, ids=str)
def test_down_matches(engine: Engine, tokens: int, inter: int, hidden: int) -> None:
    h = randn(tokens, inter)
    w_down = random_e4m3(hidden, inter, seed=1)
    scale = _scale(hidden, inter, 2)
    routed = randn(tokens, hidden, seed=3)
    gate_logit = randn(tokens, seed=4, dtype=torch.float32) * 3
    gate_logit[0] = float("inf")  # an ungated shared expert
    got = launch_twice(
        engine.kernel("moe_shared_expert_fused_fp8_down", "moe_shared_expert_fused_fp8_down"),
        lambda: {
            "out": torch.empty_like(routed),
            "routed": routed,
            "h": h,
            "w_down": w_down,
            "scale": scale,
            "gate_logit": gate_logit,
            "tokens": tokens,
            "inter": inter,
            "hidden": hidden,
        },
        outputs=["out"],
    )["out"]
    down = (h.float() @ w_down.float().T) * scale
    assert_close(got, routed.float() + gate_logit.sigmoid().unsqueeze(1) * down)


def test_down_may_add_in_place(engine: Engine) -> None:
    h, w_down = randn(2, 64), random_e4m3(33, 64, seed=1)
    routed = randn(2, 33, seed=3)
    out = routed.clone()
    engine.kernel("moe_shared_expert_fused_fp8_down", "moe_shared_expert_fused_fp8_down").launch(
        out=out,
        routed=out,
        h=h,
        w_down=w_down,
        scale=torch.full((33,), 0.125, device="cuda"),
        gate_logit=torch.zeros(2, device="cuda"),
        tokens=2,
        inter=64,
        hidden=33,
    )
    assert_close(out, routed.float() + 0.5 * 0.125 * (h.float() @ w_down.float().T))


def test_a_nan_weight_reaches_its_channel_alone(engine: Engine) -> None:
    x = randn(1, 64)
    w_up = random_e4m3(16, 64, seed=2)
    w_up.view(torch.uint8)[7, 40] = 0x7F  # e4m3's NaN
    h = torch.empty(1, 16, dtype=torch.bfloat16, device="cuda")
    engine.kernel("moe_shared_expert_fused_fp8", "moe_shared_expert_fused_fp8").launch(
        h=h,
        x=x,
        w_gate=random_e4m3(16, 64, seed=1),
        w_up=w_up,
        scale_gate=torch.ones(16, device="cuda"),
        scale_up=torch.ones(16, device="cuda"),
        tokens=1,
        hidden=64,
        inter=16,
    )
    assert h.isnan().nonzero().tolist() == [[0, 7]]
