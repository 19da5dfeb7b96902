"""Taking the fused projections of a gated delta-net layer apart."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .driver import Engine, launch_twice, torch

_DIM = 128  # of a key head and of a value head


@pytest.mark.parametrize(
    ("tokens", "key_heads", "value_heads"),
    [(1, 1, 1), (3, 16, 32), (7, 3, 12), (2, 2, 128)],
    ids=str,
)
def test_matches(engine: Engine, tokens: int, key_heads: int, value_heads: int) -> None:
    group = value_heads // key_heads
    qkvz = randn(tokens, key_heads, 2 * _DIM * (1 + group))
    ba = randn(tokens, key_heads, 2 * group, seed=1, scale=3.0)
    ba[0, 0, 0] = float("-inf")
    ba[0, 0, group] = 100.0  # softplus is the number itself here, and exp would overflow
    ba[-1, -1, -1] = -100.0
    a_log = randn(value_heads, seed=2, dtype=torch.float32)
    dt_bias = randn(value_heads, seed=3, dtype=torch.float32)
    mixed_dim = (2 * key_heads + value_heads) * _DIM
    got = launch_twice(
        engine.kernel("ssm_preprocess", "ssm_preprocess"),
        lambda: {
            "mixed": torch.empty(tokens, mixed_dim, dtype=torch.bfloat16, device="cuda"),
            "z": torch.empty(tokens, value_heads * _DIM, dtype=torch.bfloat16, device="cuda"),
            "g": torch.empty(tokens, value_heads, device="cuda"),
            "beta": torch.empty(tokens, value_heads, device="cuda"),
            "qkvz": qkvz,
            "ba": ba,
            "a_log": a_log,
            "dt_bias": dt_bias,
            "tokens": tokens,
            "key_heads": key_heads,
            "value_heads": value_heads,
        },
        outputs=["mixed", "z", "g", "beta"],
    )
    parts = qkvz.split([_DIM, _DIM, group * _DIM, group * _DIM], dim=-1)
    q, k, v, z = (part.reshape(tokens, -1) for part in parts)
    assert_equal(got["mixed"], torch.cat((q, k, v), dim=-1))
    assert_equal(got["z"], z.contiguous())
    b, a = (part.reshape(tokens, -1).double() for part in ba.split([group, group], dim=-1))
    softplus = torch.nn.functional.softplus(a + dt_bias.double())
    assert_close(got["g"], -a_log.double().exp() * softplus, 1e-30, 1e-5)
    assert_close(got["beta"], b.sigmoid(), 1e-30, 1e-5)
