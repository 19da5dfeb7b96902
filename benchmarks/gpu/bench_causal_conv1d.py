"""The causal convolution against torch's grouped conv1d and SiLU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import PHASES, Case

from gpu.compare import randn
from gpu.driver import Engine, Tensor, torch

CHANNELS = 8192
WIDTH = 4


def convolve(x: Tensor, state: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    whole = torch.cat((state, x), dim=1).transpose(1, 2)
    out = torch.nn.functional.conv1d(whole, weight[:, None], bias, groups=CHANNELS)
    return torch.nn.functional.silu(out).transpose(1, 2)


def cases(engine: Engine) -> Iterator[Case]:
    """One step of 64 sequences (decode) and one sequence of 8192 tokens (prefill)."""
    kernel = engine.kernel("causal_conv1d", "causal_conv1d")
    weight, bias = randn(CHANNELS, WIDTH, seed=2), randn(CHANNELS, seed=3)
    for phase, (batch, seq) in zip(PHASES, ((64, 1), (1, 8192)), strict=True):
        x, state = randn(batch, seq, CHANNELS), randn(batch, WIDTH - 1, CHANNELS, seed=1)
        out, state_out = torch.empty_like(x), torch.empty_like(state)
        yield Case(
            kernel="causal_conv1d",
            phase=phase,
            shape=f"{batch} × {seq} × {CHANNELS}",
            ours=kernel.bind(
                out=out,
                state_out=state_out,
                x=x,
                state_in=state,
                weight=weight,
                bias=bias,
                batch=batch,
                seq=seq,
                channels=CHANNELS,
            ),
            reference=partial(convolve, x, state, weight, bias),
            reference_name="torch conv1d + silu",
            bound="memory",
            bytes_moved=2 * (x.nbytes + state.nbytes) + weight.nbytes + bias.nbytes,
        )
