"""One decode step of the gated delta rule against the fp64 recurrence."""

from __future__ import annotations

import pytest

from .compare import assert_close, assert_equal, randn
from .delta_rule import DIM, Tokens, random_tokens, recurrence
from .driver import Engine, Tensor, launch_twice, torch


def _run(engine: Engine, tokens: Tokens, state: Tensor, slot: Tensor) -> tuple[Tensor, Tensor]:
    batch, key_heads, _ = tokens.q.shape
    value_heads = tokens.v.shape[1]
    got = launch_twice(
        engine.kernel("gated_delta_rule_decode", "gated_delta_rule_decode"),
        lambda: {
            "o": torch.zeros_like(tokens.v),
            "state": state.clone(),
            "slot": slot,
            "q": tokens.q,
            "k": tokens.k,
            "v": tokens.v,
            "g": tokens.g,
            "beta": tokens.beta,
            "batch": batch,
            "key_heads": key_heads,
            "value_heads": value_heads,
            "key_stride": key_heads * DIM,
            "value_stride": value_heads * DIM,
        },
        outputs=[],
        inplace=["o", "state"],
    )
    return got["o"], got["state"]


@pytest.mark.parametrize(
    ("batch", "key_heads", "value_heads"), [(1, 1, 1), (3, 2, 6), (2, 16, 32)], ids=str
)
def test_matches(engine: Engine, batch: int, key_heads: int, value_heads: int) -> None:
    tokens = random_tokens(batch, key_heads, value_heads)
    state = randn(batch + 2, value_heads, DIM, DIM, seed=9, dtype=torch.float32)
    slot = torch.arange(batch + 1, 1, -1, dtype=torch.int32, device="cuda")
    o, after = _run(engine, tokens, state, slot)
    wanted = state.clone()
    for i in range(batch):
        at = int(slot[i])
        o_i, state_i = recurrence(tokens.slice(i, i + 1), state[at])
        assert_close(o[i : i + 1], o_i)
        assert_close(after[at], state_i, 1e-6, 1e-5)
        wanted[at] = after[at]
    # Slots of no sequence are not touched.
    assert_equal(after, wanted)


def test_a_padding_row_touches_nothing(engine: Engine) -> None:
    tokens = random_tokens(3, 1, 2)
    state = randn(2, 2, DIM, DIM, seed=9, dtype=torch.float32)
    slot = torch.tensor([1, -1, -1], dtype=torch.int32, device="cuda")
    o, after = _run(engine, tokens, state, slot)
    assert_equal(after[0], state[0])
    assert_equal(o[1:], torch.zeros_like(o[1:]))
    assert_close(o[:1], recurrence(tokens.slice(0, 1), state[1])[0])


def test_a_full_reset_leaves_the_new_key_alone(engine: Engine) -> None:
    """With g at minus infinity nothing of the old state is left."""
    tokens = random_tokens(1, 1, 1)
    reset = Tokens(tokens.q, tokens.k, tokens.v, torch.full_like(tokens.g, -torch.inf), tokens.beta)
    state = randn(1, 1, DIM, DIM, seed=9, dtype=torch.float32)
    slot = torch.zeros(1, dtype=torch.int32, device="cuda")
    o, after = _run(engine, reset, state, slot)
    o_wanted, state_wanted = recurrence(reset, state[0])
    assert_close(o, o_wanted)
    assert_close(after[0], state_wanted, 1e-6, 1e-5)


def test_reads_parts_of_wider_rows(engine: Engine) -> None:
    """q, k and v of one row, as the convolution leaves them."""
    key_heads, value_heads, batch = 2, 4, 3
    tokens = random_tokens(batch, key_heads, value_heads)
    parts = [x.reshape(batch, -1) for x in (tokens.q, tokens.k, tokens.v)]
    row = torch.cat(parts, dim=1).contiguous()
    flat, width = row.view(-1), row.shape[1]
    state = randn(batch, value_heads, DIM, DIM, seed=9, dtype=torch.float32)
    slot = torch.arange(batch, dtype=torch.int32, device="cuda")
    o_wanted, state_wanted = _run(engine, tokens, state, slot)
    o = torch.empty_like(tokens.v)
    engine.kernel("gated_delta_rule_decode", "gated_delta_rule_decode").launch(
        o=o,
        state=state,
        slot=slot,
        q=flat,
        k=flat[key_heads * DIM :],
        v=flat[2 * key_heads * DIM :],
        g=tokens.g,
        beta=tokens.beta,
        batch=batch,
        key_heads=key_heads,
        value_heads=value_heads,
        key_stride=width,
        value_stride=width,
    )
    assert_equal(o, o_wanted)
    assert_equal(state, state_wanted)
