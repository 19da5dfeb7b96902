"""Squared ReLU and the down projections of the chosen and the shared expert, for decode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch
from gpu.experts import random_e4m3

EXPERTS, TOP_K, INTER, SHARED_INTER, HIDDEN = 128, 6, 1856, 3712, 2688


def _eager(
    up: Tensor, expert: Tensor, weight: Tensor, w_down: Tensor, shared_up: Tensor, shared: Tensor
) -> Tensor:
    active = up.relu().square() * weight.unsqueeze(-1)
    routed = torch.einsum("tji,tjhi->th", active, w_down[expert])
    return routed + shared_up.relu().square() @ shared.T


def cases(engine: Engine) -> Iterator[Case]:
    kernel = engine.kernel("moe_expert_relu2_down_shared", "moe_expert_relu2_down_shared")
    w_down = random_e4m3(EXPERTS, HIDDEN, INTER)
    w_down_bf16 = w_down.bfloat16()
    shared_down = random_e4m3(HIDDEN, SHARED_INTER, seed=1)
    scale = torch.full((EXPERTS, HIDDEN), INTER**-0.5, device="cuda")
    for tokens in (1, 16):
        up, shared_up = randn(tokens, TOP_K, INTER), randn(tokens, SHARED_INTER)
        # No expert twice, so each choice reads its own weights.
        expert = torch.randperm(EXPERTS, device="cuda")[: tokens * TOP_K].view(tokens, TOP_K)
        weight = torch.full((tokens, TOP_K), 1 / TOP_K, device="cuda")
        out = torch.empty(tokens, HIDDEN, dtype=torch.bfloat16, device="cuda")
        choices = tokens * TOP_K
        yield Case(
            kernel="moe_expert_relu2_down_shared",
            phase="decode",
            shape=f"{tokens} token(s), {TOP_K} of {EXPERTS} experts, {INTER} to {HIDDEN}",
            ours=kernel.bind(
                out=out,
                up=up,
                expert=expert.int(),
                weight=weight,
                w_down=w_down,
                scale=scale,
                shared_up=shared_up,
                shared_down=shared_down,
                shared_scale=scale[0],
                tokens=tokens,
                top_k=TOP_K,
                inter=INTER,
                shared_inter=SHARED_INTER,
                hidden=HIDDEN,
            ),
            reference=partial(
                _eager,
                up,
                expert,
                weight.bfloat16(),
                w_down_bf16,
                shared_up,
                shared_down.bfloat16(),
            ),
            reference_name="eager, bf16 weights",
            bound="memory",
            bytes_moved=choices * (INTER + 4) * HIDDEN
            + shared_down.nbytes
            + up.nbytes
            + shared_up.nbytes
            + out.nbytes,
        )
