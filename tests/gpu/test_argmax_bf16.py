"""Greedy sampling: position, ties and NaN as torch.argmax has them."""

from __future__ import annotations

import pytest

from .compare import assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch


def argmax(engine: Engine, logits: Tensor, vocab: int) -> Tensor:
    rows, stride = logits.shape
    return launch_twice(
        engine.kernel("argmax_bf16", "argmax_bf16"),
        lambda: {
            "out": torch.empty(rows, dtype=torch.int32, device="cuda"),
            "logits": logits,
            "rows": rows,
            "vocab": vocab,
            "row_stride": stride,
        },
        outputs=["out"],
    )["out"]


def first_greatest(logits: Tensor) -> Tensor:
    """The first position of each row's maximum, a NaN counting as the greatest."""
    greatest = logits.amax(-1, keepdim=True)
    equal = (logits == greatest) | (logits.isnan() & greatest.isnan())
    return equal.int().argmax(-1).int()


@pytest.mark.parametrize(
    ("rows", "vocab", "stride"),
    [(1, 1, 8), (3, 7, 8), (2, 8, 8), (4, 1003, 1008), (5, 32768, 32768), (3, 151_936, 151_936)],
)
def test_argmax(engine: Engine, rows: int, vocab: int, stride: int) -> None:
    logits = randn(rows, stride)
    # What lies past the vocabulary must not win.
    logits[:, vocab:] = 1e30
    assert_equal(argmax(engine, logits, vocab), first_greatest(logits[:, :vocab]))


@pytest.mark.parametrize("position", [0, 8191, 32_767, 40_000, 50_001])
def test_argmax_finds_each_place(engine: Engine, position: int) -> None:
    logits = randn(2, 50_008)
    logits[:, position] = 100.0
    assert argmax(engine, logits, 50_002).tolist() == [position, position]


def test_argmax_ties_go_to_the_lower_position(engine: Engine) -> None:
    logits = torch.full((3, 16_384), -2.0, dtype=torch.bfloat16, device="cuda")
    logits[0, [9000, 9001, 16_000]] = 1.0
    # Below the kernel's first vector, and zeros of either sign.
    logits[1] = -0.0
    logits[1, 5000] = 0.0
    assert argmax(engine, logits, 16_384).tolist() == [9000, 0, 0]


def test_argmax_of_nan_and_infinity(engine: Engine) -> None:
    logits = randn(4, 4096)
    logits[0, 100], logits[0, 200] = float("inf"), float("nan")
    logits[1, 300] = -float("nan")
    logits[2] = -float("inf")
    logits[3, 17] = float("inf")
    assert argmax(engine, logits, 4096).tolist() == [200, 300, 0, 17]
