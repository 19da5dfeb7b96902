"""One decode step of the gated delta rule, against the eager operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from case import Case

from gpu.compare import randn
from gpu.delta_rule import DIM, Tokens, random_tokens
from gpu.driver import Engine, Tensor, torch

KEY_HEADS, VALUE_HEADS = 16, 32


def _eager(tokens: Tokens, state: Tensor) -> Tensor:
    group = VALUE_HEADS // KEY_HEADS
    q = tokens.q.float().repeat_interleave(group, dim=1)
    k = tokens.k.float().repeat_interleave(group, dim=1)
    state.mul_(tokens.g.exp()[:, :, None, None])
    read = torch.einsum("bhkv,bhk->bhv", state, k)
    step = tokens.beta.unsqueeze(-1) * (tokens.v.float() - read)
    state.add_(k.unsqueeze(-1) * step.unsqueeze(-2))
    return torch.einsum("bhkv,bhk->bhv", state, q).bfloat16()


def cases(engine: Engine) -> Iterator[Case]:
    kernel = engine.kernel("gated_delta_rule_decode", "gated_delta_rule_decode")
    for batch in (1, 64):
        tokens = random_tokens(batch, KEY_HEADS, VALUE_HEADS)
        state = randn(batch, VALUE_HEADS, DIM, DIM, dtype=torch.float32)
        yield Case(
            kernel="gated_delta_rule_decode",
            phase="decode",
            shape=f"batch {batch}, {KEY_HEADS} key and {VALUE_HEADS} value heads of {DIM}",
            ours=kernel.bind(
                o=torch.empty_like(tokens.v),
                state=state.clone(),
                slot=torch.arange(batch, dtype=torch.int32, device="cuda"),
                q=tokens.q,
                k=tokens.k,
                v=tokens.v,
                g=tokens.g,
                beta=tokens.beta,
                batch=batch,
                key_heads=KEY_HEADS,
                value_heads=VALUE_HEADS,
                key_stride=KEY_HEADS * DIM,
                value_stride=VALUE_HEADS * DIM,
            ),
            reference=partial(_eager, tokens, state),
            reference_name="eager",
            bound="memory",
            bytes_moved=2 * state.nbytes
            + tokens.q.nbytes
            + tokens.k.nbytes
            + 2 * tokens.v.nbytes
            + tokens.g.nbytes
            + tokens.beta.nbytes,
        )
