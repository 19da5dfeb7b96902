"""The Walsh-Hadamard transform over rows of 128."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, Tensor, launch_twice, torch

DIM = 128


def hadamard() -> Tensor:
    """fp64 [DIM, DIM], orthonormal."""
    matrix = torch.ones(1, 1, dtype=torch.float64, device="cuda")
    while matrix.shape[0] < DIM:
        matrix = torch.cat(
            (torch.cat((matrix, matrix), dim=1), torch.cat((matrix, -matrix), dim=1))
        )
    return matrix / DIM**0.5


def transform(engine: Engine, x: Tensor) -> Tensor:
    return launch_twice(
        engine.kernel("wht_bf16", "wht_bf16"),
        lambda: {"out": torch.empty_like(x), "x": x, "rows": x.shape[0]},
        outputs=["out"],
    )["out"]


@pytest.mark.parametrize("rows", [1, 31, 32, 33, 64, 65, 1000])
def test_wht(engine: Engine, rows: int) -> None:
    x = randn(rows, DIM)
    assert_close(transform(engine, x), x.double() @ hadamard())


def test_wht_of_one_spike_is_a_row_of_the_matrix(engine: Engine) -> None:
    x = torch.eye(DIM, dtype=torch.bfloat16, device="cuda")
    assert_close(transform(engine, x), hadamard(), abs_tolerance=0.0, rel_tolerance=4e-3)


def test_wht_spreads_a_nan_over_its_row_alone(engine: Engine) -> None:
    x = randn(3, DIM)
    x[1, 5] = float("nan")
    got = transform(engine, x)
    assert bool(got[1].isnan().all())
    assert not bool(got[[0, 2]].isnan().any())
