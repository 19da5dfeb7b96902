"""Squared ReLU, the chosen experts' down projections and the shared expert's, summed."""

from __future__ import annotations

from typing import Any

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch
from .experts import random_choices, random_e4m3

_NAME = "moe_expert_relu2_down_shared"


def _inputs(
    tokens: int, experts: int, top_k: int, inter: int, shared_inter: int, hidden: int
) -> dict[str, Any]:
    depth = top_k * inter + shared_inter
    return {
        "up": randn(tokens, top_k, inter),
        "expert": random_choices(tokens, experts, top_k).int(),
        "weight": randn(tokens, top_k, seed=1, dtype=torch.float32).softmax(dim=1),
        "w_down": random_e4m3(experts, hidden, inter, seed=2),
        "scale": (randn(experts, hidden, seed=3, dtype=torch.float32).abs() + 0.5) * depth**-0.5,
        "shared_up": randn(tokens, shared_inter, seed=4),
        "shared_down": random_e4m3(hidden, shared_inter, seed=5),
        "shared_scale": torch.full((hidden,), depth**-0.5, device="cuda"),
        "tokens": tokens,
        "top_k": top_k,
        "inter": inter,
        "shared_inter": shared_inter,
        "hidden": hidden,
    }


def _reference(given: dict[str, Any]) -> Tensor:
    active = given["up"].float().relu().square()
    shared = given["shared_up"].float().relu().square() @ given["shared_down"].float().T
    out = shared * given["shared_scale"]
    for token in range(given["tokens"]):
        for j in range(given["top_k"]):
            expert = int(given["expert"][token, j])
            if expert >= 0:
                down = given["w_down"][expert].float() @ active[token, j]
                out[token] += given["weight"][token, j] * given["scale"][expert] * down
    return out


def _run(engine: Engine, given: dict[str, Any]) -> Tensor:
    return launch_twice(
        engine.kernel(_NAME, _NAME),
        lambda: {
            "out": torch.empty(
                given["tokens"], given["hidden"], dtype=torch.bfloat16, device="cuda"
            ),
            **given,
        },
        outputs=["out"],
    )["out"]


@pytest.mark.parametrize(
    ("tokens", "experts", "top_k", "inter", "shared_inter", "hidden"),
    [
        (1, 1, 1, 16, 0, 8),
        (1, 8, 6, 512, 528, 40),
        (3, 16, 10, 528, 4112, 24),
        (2, 128, 22, 1856, 3712, 8),
    ],
    ids=str,
)
def test_matches(
    engine: Engine,
    tokens: int,
    experts: int,
    top_k: int,
    inter: int,
    shared_inter: int,
    hidden: int,
) -> None:
    given = _inputs(tokens, experts, top_k, inter, shared_inter, hidden)
    assert_close(_run(engine, given), _reference(given))


def test_padding_slots_add_nothing(engine: Engine) -> None:
    given = _inputs(3, 8, 4, 272, 64, 24)
    given["expert"][0, 1:] = -1
    given["expert"][1] = -1
    given["up"][1] = float("nan")
    assert_close(_run(engine, given), _reference(given))


def test_a_nan_stays_in_its_token(engine: Engine) -> None:
    given = _inputs(3, 8, 4, 272, 64, 24)
    given["up"][1, 2, 100] = float("nan")
    got = _run(engine, given)
    assert got.isnan().all(dim=1).tolist() == [False, True, False]
    assert got.isnan().any(dim=1).tolist() == [False, True, False]
