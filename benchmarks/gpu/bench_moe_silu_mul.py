"""SwiGLU against torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

INTER = 1536


def swiglu(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


def cases(engine: Engine) -> Iterator[Case]:
    """Ten experts for each of 64 tokens (decode) and of 4096 (prefill)."""
    kernel = engine.kernel("moe_silu_mul", "moe_silu_mul")
    compiled = torch.compile(swiglu, dynamic=False)
    for phase, rows in zip(PHASES, (640, 40_960), strict=True):
        gate_up = randn(rows, 2 * INTER)
        out = torch.empty(rows, INTER, dtype=torch.bfloat16, device="cuda")
        yield Case(
            kernel="moe_silu_mul",
            phase=phase,
            shape=f"{rows} × {INTER}",
            ours=kernel.bind(out=out, gate_up=gate_up, rows=rows, inter=INTER),
            reference=partial(compiled, gate_up),
            reference_name="torch.compile",
            bound="memory",
            bytes_moved=gate_up.nbytes + out.nbytes,
        )
