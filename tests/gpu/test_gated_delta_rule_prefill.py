"""Both phases of the chunked gated delta rule against the token-by-token fp64 recurrence."""

from __future__ import annotations

from typing import Any

import pytest

from .compare import assert_close, assert_equal, randn
from .delta_rule import DIM, Tokens, random_tokens, recurrence
from .driver import Engine, Tensor, launch_twice, torch

CHUNK = 16


def _offsets(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths], device="cuda").cumsum(0).int()


def _prepare(engine: Engine, tokens: Tokens, lengths: list[int]) -> dict[str, Tensor]:
    total, key_heads, _ = tokens.q.shape
    value_heads = tokens.v.shape[1]
    chunks = total // CHUNK + len(lengths)
    # Not poisoned: the workspace may have chunks that belong to no sequence.
    return launch_twice(
        engine.kernel("gated_delta_rule_prefill_prepare", "gated_delta_rule_prefill_prepare"),
        lambda: {
            "factors": torch.zeros(
                chunks, value_heads, 3, 32, 8, dtype=torch.bfloat16, device="cuda"
            ),
            "decay": torch.zeros(chunks, value_heads, CHUNK, device="cuda"),
            "q": tokens.q,
            "k": tokens.k,
            "g": tokens.g,
            "beta": tokens.beta,
            "sequence_offset": _offsets(lengths),
            "batch": len(lengths),
            "max_tokens": max(lengths),
            "key_heads": key_heads,
            "value_heads": value_heads,
            "key_stride": key_heads * DIM,
        },
        outputs=[],
        inplace=["factors", "decay"],
    )


def _run(
    engine: Engine, tokens: Tokens, lengths: list[int], state: Tensor, slot: Tensor
) -> dict[str, Tensor]:
    _, key_heads, _ = tokens.q.shape
    value_heads = tokens.v.shape[1]
    workspace = _prepare(engine, tokens, lengths)
    shared: dict[str, Any] = {
        "slot": slot,
        "q": tokens.q,
        "k": tokens.k,
        "v": tokens.v,
        **workspace,
        "sequence_offset": _offsets(lengths),
        "batch": len(lengths),
        "key_heads": key_heads,
        "value_heads": value_heads,
        "key_stride": key_heads * DIM,
        "value_stride": value_heads * DIM,
    }
    return launch_twice(
        engine.kernel("gated_delta_rule_prefill", "gated_delta_rule_prefill"),
        lambda: {"o": torch.empty_like(tokens.v), "state": state.clone(), **shared},
        outputs=["o"],
        inplace=["state"],
    )


def _check(engine: Engine, tokens: Tokens, lengths: list[int]) -> None:
    value_heads = tokens.v.shape[1]
    state = randn(len(lengths) + 1, value_heads, DIM, DIM, seed=9, dtype=torch.float32)
    slot = torch.arange(len(lengths), 0, -1, dtype=torch.int32, device="cuda")
    got = _run(engine, tokens, lengths, state, slot)
    begin = 0
    for sequence, length in enumerate(lengths):
        at = int(slot[sequence])
        part = tokens.slice(begin, begin + length)
        o, after = recurrence(part, state[at])
        assert_close(got["o"][begin : begin + length], o)
        if length == 0:
            assert_equal(got["state"][at], state[at])
        assert_close(got["state"][at], after, 1e-4, 1e-3)
        begin += length
    assert_equal(got["state"][0], state[0])


@pytest.mark.parametrize(
    ("lengths", "key_heads", "value_heads"),
    [
        ([1], 1, 1),
        ([15], 1, 2),
        ([16], 2, 2),
        ([17, 0, 1, 64, 130], 1, 3),
        ([95, 33], 4, 8),
    ],
    ids=str,
)
def test_matches(engine: Engine, lengths: list[int], key_heads: int, value_heads: int) -> None:
    _check(engine, random_tokens(sum(lengths), key_heads, value_heads), lengths)


def test_extreme_decays(engine: Engine) -> None:
    """Decays whose product underflows within a chunk, next to tokens that forget nothing."""
    tokens = random_tokens(70, 1, 2)
    g = torch.zeros_like(tokens.g)
    g[5::7] = -60.0
    g[40] = -1000.0
    _check(engine, Tokens(tokens.q, tokens.k, tokens.v, g, tokens.beta), [70])


def test_repeated_keys_are_overwritten(engine: Engine) -> None:
    """The same key with beta 1 replaces its value each time: the chunk's inverse at its worst."""
    tokens = random_tokens(48, 1, 1)
    k = torch.zeros_like(tokens.k)
    k[..., 3] = 1.0
    ones = torch.ones_like(tokens.beta)
    _check(engine, Tokens(tokens.q, k, tokens.v, torch.zeros_like(tokens.g), ones), [48])


def test_factors_and_decay(engine: Engine) -> None:
    """The first phase alone, its fragments put back in place."""
    lengths = [20, 7]
    tokens = random_tokens(27, 1, 2)
    workspace = _prepare(engine, tokens, lengths)
    # Fragment element e of lane l holds row l/4 + 8*(e/4), column 2*(l%4) + 8*(e/2%2) + e%2.
    lane = torch.arange(32, device="cuda").view(32, 1)
    element = torch.arange(8, device="cuda")
    row = lane // 4 + 8 * (element // 4)
    column = 2 * (lane % 4) + 8 * (element // 2 % 2) + element % 2
    fragments = workspace["factors"].double()
    for chunk, first, length in ((0, 0, 16), (1, 16, 4), (2, 20, 7)):
        part = tokens.slice(first, first + length)
        for head in range(2):
            g = part.g[:, head].double().cumsum(0)
            assert_close(workspace["decay"][chunk, head, :length], g, 1e-5, 1e-5)
            ratio = (g[:, None] - g[None, :]).exp().tril()
            k, q = part.k[:, 0].double(), part.q[:, 0].double()
            beta = part.beta[:, head].double()
            a = (beta[:, None] * ratio * (k @ k.T)).tril(-1)
            identity = torch.eye(length, dtype=torch.float64, device="cuda")
            t, p = torch.zeros(2, 16, 16, dtype=torch.float64, device="cuda")
            t[row, column] = fragments[chunk, head, 0] + fragments[chunk, head, 1]
            p[row, column] = fragments[chunk, head, 2]
            inverse = torch.linalg.inv(identity + a) * beta
            assert_close(t[:length, :length], inverse, 1e-5, 1e-4)
            # P is rounded to bf16.
            assert_close(p[:length, :length], ratio * (q @ k.T), 1e-5, 2**-8)


def test_two_parts_equal_the_whole(engine: Engine) -> None:
    """A prompt in two calls, the state carried over, gives the whole's outputs at chunk borders."""
    tokens = random_tokens(64, 1, 2)
    state = torch.zeros(1, 2, DIM, DIM, device="cuda")
    slot = torch.zeros(1, dtype=torch.int32, device="cuda")
    whole = _run(engine, tokens, [64], state, slot)
    first = _run(engine, tokens.slice(0, 32), [32], state, slot)
    second = _run(engine, tokens.slice(32, 64), [32], first["state"], slot)
    assert_equal(torch.cat((first["o"], second["o"])), whole["o"])
    assert_equal(second["state"], whole["state"])
