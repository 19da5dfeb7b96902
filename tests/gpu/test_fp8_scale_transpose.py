"""Transpose of FP8 block scales with zeroed padding."""

from __future__ import annotations

import pytest

from .compare import assert_equal, randn
from .driver import Engine, launch_twice, torch


@pytest.mark.parametrize(
    ("rows", "cols", "stride"),
    [(1, 1, 1), (1, 56, 4), (64, 32, 64), (65, 33, 68), (1000, 16, 1024), (3, 128, 200)],
)
def test_fp8_scale_transpose(engine: Engine, rows: int, cols: int, stride: int) -> None:
    scales = randn(rows, cols, dtype=torch.float32)
    got = launch_twice(
        engine.kernel("fp8_scale_transpose", "fp8_scale_transpose"),
        lambda: {
            "out": torch.empty(cols, stride, device="cuda"),
            "scales": scales,
            "rows": rows,
            "cols": cols,
            "out_stride": stride,
        },
        outputs=["out"],
    )
    wanted = torch.zeros(cols, stride, device="cuda")
    wanted[:, :rows] = scales.T
    assert_equal(got["out"], wanted)
