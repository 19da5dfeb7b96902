"""The grouped expert products over NVFP4 and fp8 weights, and the sum over a token's slots."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch
from .experts import random_choices, random_e4m3, random_nvfp4, routing

# Slots per expert, n, k: tiles of 64 slots and 128 channels that are full, short and missing.
SHAPES = [
    pytest.param([1], 8, 64, id="one-slot"),
    pytest.param([64, 0, 1, 65], 128, 64, id="full-empty-short"),
    pytest.param([0, 0, 200, 0], 200, 192, id="one-expert"),
    pytest.param([3, 128, 0, 7, 31, 0, 0, 90] * 5, 264, 320, id="two-stretches-of-experts"),
]


def _slots(counts: list[int], rows: int) -> tuple[Tensor, Tensor]:
    """Offsets for these counts, and slots that read rows out of order."""
    offset = torch.tensor([0, *counts], device="cuda").cumsum(0).int()
    slots = sum(counts)
    return offset, ((torch.arange(slots, device="cuda") * 7 + 3) % rows).int()


@pytest.mark.parametrize(("counts", "n", "k"), SHAPES)
def test_nvfp4_matches_the_dequantised_product(
    engine: Engine, counts: list[int], n: int, k: int
) -> None:
    x = randn(13, k)
    weights = random_nvfp4(len(counts), n, k)
    offset, rows = _slots(counts, len(x))
    got = launch_twice(
        engine.kernel("moe_prefill", "moe_prefill"),
        lambda: {
            "y": torch.empty(len(rows), n, dtype=torch.bfloat16, device="cuda"),
            "x": x,
            "row_of_slot": rows,
            "expert_offset": offset,
            "w_packed": weights.packed,
            "block_scale": weights.block_scale,
            "global_scale": weights.global_scale,
            "slots": len(rows),
            "experts": len(counts),
            "n": n,
            "k": k,
        },
        outputs=["y"],
    )["y"]
    for expert in range(len(counts)):
        slots = slice(int(offset[expert]), int(offset[expert + 1]))
        reference = x[rows[slots].long()].float() @ weights.dequantised(expert).T
        assert_close(got[slots], reference)


@pytest.mark.parametrize(("counts", "n", "k"), SHAPES)
def test_fp8_matches_the_dequantised_product(
    engine: Engine, counts: list[int], n: int, k: int
) -> None:
    x = randn(13, k)
    weights = random_e4m3(len(counts), n, k)
    scale = (randn(len(counts), n, seed=1, dtype=torch.float32).abs() + 0.5) * k**-0.5
    offset, rows = _slots(counts, len(x))
    got = launch_twice(
        engine.kernel("moe_prefill_fp8", "moe_prefill_fp8"),
        lambda: {
            "y": torch.empty(len(rows), n, dtype=torch.bfloat16, device="cuda"),
            "x": x,
            "row_of_slot": rows,
            "expert_offset": offset,
            "w": weights,
            "scale": scale,
            "slots": len(rows),
            "experts": len(counts),
            "n": n,
            "k": k,
        },
        outputs=["y"],
    )["y"]
    for expert in range(len(counts)):
        slots = slice(int(offset[expert]), int(offset[expert + 1]))
        reference = (x[rows[slots].long()].float() @ weights[expert].float().T) * scale[expert]
        assert_close(got[slots], reference)


def test_every_e4m3_code_is_exact(engine: Engine) -> None:
    """One-hot activations pick single weights; all 254 numbers are exact in bf16."""
    codes = torch.arange(256, dtype=torch.uint8, device="cuda")
    codes[(codes & 127) == 127] = 0
    weights = codes.view(torch.float8_e4m3fn).view(1, 8, 32).repeat(1, 1, 2).contiguous()
    x = torch.eye(64, dtype=torch.bfloat16, device="cuda")
    got = launch_twice(
        engine.kernel("moe_prefill_fp8", "moe_prefill_fp8"),
        lambda: {
            "y": torch.empty(64, 8, dtype=torch.bfloat16, device="cuda"),
            "x": x,
            "row_of_slot": torch.arange(64, dtype=torch.int32, device="cuda"),
            "expert_offset": torch.tensor([0, 64], dtype=torch.int32, device="cuda"),
            "w": weights,
            "scale": torch.ones(1, 8, device="cuda"),
            "slots": 64,
            "experts": 1,
            "n": 8,
            "k": 64,
        },
        outputs=["y"],
    )["y"]
    # Compared as numbers: the accumulation turns -0 into 0.
    assert torch.equal(got.float(), weights[0].float().T)


def test_every_e2m1_code_under_every_block_scale_is_exact(engine: Engine) -> None:
    """One-hot activations pick single weights: code times e4m3 scale is exact in bf16."""
    scales = torch.arange(128, dtype=torch.uint8, device="cuda")
    scales[127] = 0
    channels = torch.arange(16, dtype=torch.uint8, device="cuda")
    # Channel c holds code c throughout, and block b of channel c scale (c * 8 + b) % 128.
    packed = (channels | channels << 4).view(1, 16, 1).repeat(1, 1, 64).contiguous()
    index = (torch.arange(16, device="cuda").view(16, 1) * 8 + torch.arange(8, device="cuda")) % 128
    scale = scales[index].view(torch.float8_e4m3fn).view(1, 16, 8).contiguous()
    x = torch.eye(128, dtype=torch.bfloat16, device="cuda")
    got = launch_twice(
        engine.kernel("moe_prefill", "moe_prefill"),
        lambda: {
            "y": torch.empty(128, 16, dtype=torch.bfloat16, device="cuda"),
            "x": x,
            "row_of_slot": torch.arange(128, dtype=torch.int32, device="cuda"),
            "expert_offset": torch.tensor([0, 128], dtype=torch.int32, device="cuda"),
            "w_packed": packed,
            "block_scale": scale,
            "global_scale": torch.ones(1, device="cuda"),
            "slots": 128,
            "experts": 1,
            "n": 16,
            "k": 128,
        },
        outputs=["y"],
    )["y"]
    value = torch.tensor(
        [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], device="cuda"
    )
    reference = value.view(16, 1) * scale[0].float().repeat_interleave(16, dim=1)
    assert torch.equal(got.float(), reference.T)


@pytest.mark.parametrize(
    ("tokens", "top_k", "hidden"), [(1, 1, 8), (5, 10, 2056), (33, 3, 512)], ids=str
)
def test_combine_sums_a_tokens_slots(engine: Engine, tokens: int, top_k: int, hidden: int) -> None:
    y = randn(tokens * top_k, hidden)
    route = routing(random_choices(tokens, 16, top_k), 16)
    slot_of = route.slot_of.clone()
    slot_of[-1, -1] = -1
    weight = randn(tokens, top_k, seed=2, dtype=torch.float32).softmax(dim=1)
    got = launch_twice(
        engine.kernel("moe_prefill_combine", "moe_prefill_combine"),
        lambda: {
            "out": torch.empty(tokens, hidden, dtype=torch.bfloat16, device="cuda"),
            "y": y,
            "slot_of": slot_of,
            "weight": weight,
            "tokens": tokens,
            "top_k": top_k,
            "hidden": hidden,
        },
        outputs=["out"],
    )["out"]
    kept = weight * (slot_of >= 0)
    reference = (y[slot_of.clamp(min=0).long()].float() * kept.unsqueeze(-1)).sum(dim=1)
    assert_close(got, reference)


def test_an_expert_layer_end_to_end(engine: Engine) -> None:
    """256 experts, 10 per token: sort, product and weighted sum equal the dense computation."""
    tokens, experts, top_k, n, k = 21, 256, 10, 136, 128
    x = randn(tokens, k)
    weights = random_nvfp4(experts, n, k)
    choices = random_choices(tokens, experts, top_k)
    route = routing(choices, experts)
    weight = randn(tokens, top_k, seed=2, dtype=torch.float32).softmax(dim=1)
    y = torch.empty(tokens * top_k, n, dtype=torch.bfloat16, device="cuda")
    out = torch.empty(tokens, n, dtype=torch.bfloat16, device="cuda")
    engine.kernel("moe_prefill", "moe_prefill").launch(
        y=y,
        x=x,
        row_of_slot=route.row_of_slot,
        expert_offset=route.expert_offset,
        w_packed=weights.packed,
        block_scale=weights.block_scale,
        global_scale=weights.global_scale,
        slots=tokens * top_k,
        experts=experts,
        n=n,
        k=k,
    )
    engine.kernel("moe_prefill_combine", "moe_prefill_combine").launch(
        out=out,
        y=y,
        slot_of=route.slot_of,
        weight=weight,
        tokens=tokens,
        top_k=top_k,
        hidden=n,
    )
    dense = torch.stack([weights.dequantised(e) for e in range(experts)])
    chosen = torch.einsum("tk,tjnk->tjn", x.float(), dense[choices])
    # Each slot is rounded to bf16 before the sum, so the bound scales with the largest of them.
    bound = float(chosen.abs().max()) * 2**-8
    assert_close(out, (chosen * weight.unsqueeze(-1)).sum(dim=1), abs_tolerance=bound)


def test_a_nan_stays_in_its_slots(engine: Engine) -> None:
    x = randn(4, 64)
    x[2, 5] = float("nan")
    weights = random_nvfp4(2, 64, 64)
    rows = torch.tensor([0, 1, 2, 3, 2, 1], dtype=torch.int32, device="cuda")
    y = torch.empty(6, 64, dtype=torch.bfloat16, device="cuda")
    engine.kernel("moe_prefill", "moe_prefill").launch(
        y=y,
        x=x,
        row_of_slot=rows,
        expert_offset=torch.tensor([0, 3, 6], dtype=torch.int32, device="cuda"),
        w_packed=weights.packed,
        block_scale=weights.block_scale,
        global_scale=weights.global_scale,
        slots=6,
        experts=2,
        n=64,
        k=64,
    )
    assert_equal(y.isnan().any(dim=1), rows == 2)
    assert_equal(y.isnan().all(dim=1), rows == 2)
