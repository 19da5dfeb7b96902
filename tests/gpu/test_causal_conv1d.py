"""The depthwise causal convolution with SiLU and its carried state."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch

WIDTH = 4


def reference(x: Tensor, state: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    whole = torch.cat((state, x), dim=1).float()
    seq = x.shape[1]
    taps = [whole[:, j : j + seq] * weight.float()[:, j] for j in range(WIDTH)]
    return torch.nn.functional.silu(sum(taps) + bias.float())


@pytest.mark.parametrize(
    ("batch", "seq", "channels"),
    [(1, 1, 8), (2, 2, 1024), (1, 3, 1032), (3, 15, 64), (2, 16, 2048), (2, 17, 8), (1, 100, 4096)],
)
def test_causal_conv1d(engine: Engine, batch: int, seq: int, channels: int) -> None:
    x, state = randn(batch, seq, channels), randn(batch, WIDTH - 1, channels, seed=1)
    weight, bias = randn(channels, WIDTH, seed=2, scale=0.5), randn(channels, seed=3)
    got = launch_twice(
        engine.kernel("causal_conv1d", "causal_conv1d"),
        lambda: {
            "out": torch.empty_like(x),
            "state_out": torch.empty_like(state),
            "x": x,
            "state_in": state,
            "weight": weight,
            "bias": bias,
            "batch": batch,
            "seq": seq,
            "channels": channels,
        },
        outputs=["out", "state_out"],
    )
    assert_close(got["out"], reference(x, state, weight, bias))
    assert_equal(got["state_out"], torch.cat((state, x), dim=1)[:, -3:].contiguous())


def test_causal_conv1d_steps_continue_a_sequence(engine: Engine) -> None:
    """One token at a time, the state in place, gives the bits of the whole sequence at once."""
    channels, seq = 256, 20
    kernel = engine.kernel("causal_conv1d", "causal_conv1d")
    x = randn(1, seq, channels)
    weight, bias = randn(channels, WIDTH, seed=2), randn(channels, seed=3)
    start = torch.zeros(1, WIDTH - 1, channels, dtype=torch.bfloat16, device="cuda")
    common = {"weight": weight, "bias": bias, "batch": 1, "channels": channels}

    whole, last = torch.empty_like(x), torch.empty_like(start)
    kernel.launch(out=whole, state_out=last, x=x, state_in=start, seq=seq, **common)

    state = start.clone()
    for t in range(seq):
        step = torch.empty_like(x[:, :1])
        token = x[:, t : t + 1].contiguous()
        kernel.launch(out=step, state_out=state, x=token, state_in=state, seq=1, **common)
        assert_equal(step, whole[:, t : t + 1].contiguous())
    assert_equal(state, last)


def test_causal_conv1d_sees_no_future(engine: Engine) -> None:
    channels = 8
    x = torch.zeros(1, 40, channels, dtype=torch.bfloat16, device="cuda")
    x[:, 20] = float("nan")
    state = torch.zeros(1, WIDTH - 1, channels, dtype=torch.bfloat16, device="cuda")
    out, state_out = torch.empty_like(x), torch.empty_like(state)
    engine.kernel("causal_conv1d", "causal_conv1d").launch(
        out=out,
        state_out=state_out,
        x=x,
        state_in=state,
        weight=randn(channels, WIDTH),
        bias=randn(channels, seed=1),
        batch=1,
        seq=40,
        channels=channels,
    )
    reached = out[0].isnan().all(-1).nonzero().flatten().tolist()
    assert reached == [20, 21, 22, 23]
    assert not bool(out[0, :20].isnan().any())
