"""Expert choice: exact positions, ties to the lower expert, softmax over the chosen."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch

TOP_K = 10
VARIANTS = [("", 256), ("qwen3-next-80b-a3b/nvfp4", 512)]


def choose(engine: Engine, leaf: str, logits: Tensor) -> tuple[Tensor, Tensor]:
    tokens = logits.shape[0]
    got = launch_twice(
        engine.kernel("moe_gate_topk", "moe_gate_topk", leaf),
        lambda: {
            "weights": torch.empty(tokens, TOP_K, device="cuda"),
            "experts": torch.empty(tokens, TOP_K, dtype=torch.int32, device="cuda"),
            "logits": logits,
            "tokens": tokens,
        },
        outputs=["weights", "experts"],
    )
    return got["weights"], got["experts"]


@pytest.mark.parametrize(("leaf", "experts"), VARIANTS)
@pytest.mark.parametrize("tokens", [1, 7, 8, 9, 1000])
def test_moe_gate_topk(engine: Engine, leaf: str, experts: int, tokens: int) -> None:
    logits = randn(tokens, experts, scale=2.0)
    weights, chosen = choose(engine, leaf, logits)
    order = logits.float().sort(dim=-1, descending=True, stable=True)
    assert_equal(chosen, order.indices[:, :TOP_K].int())
    dense = logits.double().softmax(-1).gather(-1, chosen.long())
    wanted = dense / dense.sum(-1, keepdim=True)
    assert_close(weights, wanted, abs_tolerance=1e-7, rel_tolerance=1e-5)


@pytest.mark.parametrize(("leaf", "experts"), VARIANTS)
def test_moe_gate_topk_of_equals_takes_the_lowest(engine: Engine, leaf: str, experts: int) -> None:
    logits = torch.zeros(3, experts, dtype=torch.bfloat16, device="cuda")
    logits[1, ::2] = -0.0
    logits[2] = -5.0
    logits[2, experts - 12 :] = 1.0
    weights, chosen = choose(engine, leaf, logits)
    low = list(range(TOP_K))
    assert chosen.tolist() == [low, low, [experts - 12 + i for i in low]]
    assert_close(weights, torch.full_like(weights, 0.1), 0.0, 1e-6)


def test_moe_gate_topk_of_nan_and_infinity(engine: Engine) -> None:
    logits = randn(3, 256)
    logits[0, 40] = float("nan")
    logits[1, [9, 99]] = float("inf")
    logits[2] = -float("inf")
    weights, chosen = choose(engine, "", logits)
    assert int(chosen[0, 0]) == 40
    assert bool(weights[0].isnan().all())
    assert chosen[1, :2].tolist() == [9, 99]
    assert weights[1].tolist() == [0.5, 0.5] + [0.0] * 8
    assert_close(weights[2], torch.full_like(weights[2], 0.1), 0.0, 1e-6)
