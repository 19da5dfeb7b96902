"""The grouped expert products over quantised weights, against PyTorch's grouped product in bf16."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from case import Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch
from gpu.experts import Routing, random_choices, random_e4m3, random_nvfp4, routing

# Gate and up projection of an expert layer.
EXPERTS, TOP_K, N, K = 256, 10, 1024, 2048

Phase = Literal["decode", "prefill"]
# Few tokens read every expert's weights for a slot or two; many are bound by arithmetic.
PHASES: tuple[tuple[Phase, int], ...] = (("decode", 32), ("prefill", 4096))


def _reference(x: Tensor, route: Routing, weights: Tensor) -> Callable[[], object]:
    """The same product with bf16 weights [experts][n][k] and rows gathered beforehand."""
    rows = x[route.row_of_slot.long()]
    ends = route.expert_offset[1:].contiguous()
    return partial(torch._grouped_mm, rows, weights.mT, offs=ends)


def _shape(tokens: int) -> str:
    return f"{tokens} tokens, {TOP_K} of {EXPERTS} experts, {K} to {N}"


def _products(engine: Engine) -> Iterator[Case]:
    nvfp4 = random_nvfp4(EXPERTS, N, K)
    e4m3 = random_e4m3(EXPERTS, N, K)
    scale = torch.full((EXPERTS, N), K**-0.5, device="cuda")
    bf16 = e4m3.bfloat16()
    formats: dict[str, dict[str, Any]] = {
        "moe_prefill": {
            "w_packed": nvfp4.packed,
            "block_scale": nvfp4.block_scale,
            "global_scale": nvfp4.global_scale,
        },
        "moe_prefill_fp8": {"w": e4m3, "scale": scale},
    }
    for entry, weights in formats.items():
        for phase, tokens in PHASES:
            x = randn(tokens, K)
            route = routing(random_choices(tokens, EXPERTS, TOP_K), EXPERTS)
            slots = tokens * TOP_K
            y = torch.empty(slots, N, dtype=torch.bfloat16, device="cuda")
            yield Case(
                kernel=entry,
                phase=phase,
                shape=_shape(tokens),
                ours=engine.kernel(entry, entry).bind(
                    y=y,
                    x=x,
                    row_of_slot=route.row_of_slot,
                    expert_offset=route.expert_offset,
                    **weights,
                    slots=slots,
                    experts=EXPERTS,
                    n=N,
                    k=K,
                ),
                reference=_reference(x, route, bf16),
                reference_name="torch._grouped_mm, bf16 weights",
                bound="compute",
                bytes_moved=sum(w.nbytes for w in weights.values()) + x.nbytes + y.nbytes,
                flops=2 * slots * N * K,
            )


def _combine(y: Tensor, slot_of: Tensor, weight: Tensor) -> Tensor:
    return (y[slot_of] * weight.unsqueeze(-1)).sum(dim=1)


def cases(engine: Engine) -> Iterator[Case]:
    yield from _products(engine)
    kernel = engine.kernel("moe_prefill_combine", "moe_prefill_combine")
    for phase, tokens in PHASES:
        y = randn(tokens * TOP_K, K)
        route = routing(random_choices(tokens, EXPERTS, TOP_K), EXPERTS)
        weight = torch.full((tokens, TOP_K), 1 / TOP_K, device="cuda")
        out = torch.empty(tokens, K, dtype=torch.bfloat16, device="cuda")
        yield Case(
            kernel="moe_prefill_combine",
            phase=phase,
            shape=f"{tokens} tokens, {TOP_K} slots each, hidden {K}",
            ours=kernel.bind(
                out=out,
                y=y,
                slot_of=route.slot_of,
                weight=weight,
                tokens=tokens,
                top_k=TOP_K,
                hidden=K,
            ),
            reference=partial(_combine, y, route.slot_of.long(), weight.bfloat16()),
            reference_name="eager",
            bound="memory",
            bytes_moved=y.nbytes + route.slot_of.nbytes + weight.nbytes + out.nbytes,
        )
