"""SwiGLU between the expert GEMMs."""

from __future__ import annotations

import pytest

from .compare import assert_close, randn
from .driver import Engine, launch_twice, torch


@pytest.mark.parametrize(
    ("rows", "inter"), [(1, 8), (1, 512), (10, 1536), (333, 1000), (257, 4096)]
)
def test_moe_silu_mul(engine: Engine, rows: int, inter: int) -> None:
    gate_up = randn(rows, 2 * inter, scale=4.0)
    got = launch_twice(
        engine.kernel("moe_silu_mul", "moe_silu_mul"),
        lambda: {
            "out": torch.empty(rows, inter, dtype=torch.bfloat16, device="cuda"),
            "gate_up": gate_up,
            "rows": rows,
            "inter": inter,
        },
        outputs=["out"],
    )
    gate, up = gate_up.float().chunk(2, dim=-1)
    assert_close(got["out"], torch.nn.functional.silu(gate) * up)


def test_moe_silu_mul_at_the_ends_of_the_range(engine: Engine) -> None:
    inf, nan = float("inf"), float("nan")
    gate = [inf, -inf, nan, 1.0, -1e4, 1e4, -100.0, 0.0]
    up = [1.0, 1.0, 1.0, nan, 2.0, 2.0, 1.0, 3.0]
    gate_up = torch.tensor([gate + up], dtype=torch.bfloat16, device="cuda")
    out = torch.empty(1, 8, dtype=torch.bfloat16, device="cuda")
    engine.kernel("moe_silu_mul", "moe_silu_mul").launch(out=out, gate_up=gate_up, rows=1, inter=8)
    halves = gate_up.float().chunk(2, dim=-1)
    assert_close(out, torch.nn.functional.silu(halves[0]) * halves[1])
