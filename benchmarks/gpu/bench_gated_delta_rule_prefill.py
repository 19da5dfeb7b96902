"""The gated delta rule over a prompt, against the chunked form in eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from case import Case

from gpu.delta_rule import DIM, Tokens, random_tokens
from gpu.driver import Engine, Tensor, torch

KEY_HEADS, VALUE_HEADS = 16, 32
# Tokens per chunk of the kernels, and of the reference, which is fastest with larger ones.
CHUNK, REFERENCE_CHUNK = 16, 64


def _chunked(x: Tensor, chunk: int) -> Tensor:
    """[tokens][heads][...] to fp32 [heads][chunks][chunk][...]."""
    return x.float().transpose(0, 1).unflatten(1, (-1, chunk))


def _factors(tokens: Tokens, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
    """The inverse T, the products P, and the cumulative decays of all chunks."""
    group = VALUE_HEADS // KEY_HEADS
    k = _chunked(tokens.k, chunk).repeat_interleave(group, dim=0)
    q = _chunked(tokens.q, chunk).repeat_interleave(group, dim=0)
    g = _chunked(tokens.g, chunk).cumsum(-1)
    beta = _chunked(tokens.beta, chunk)
    ratio = (g.unsqueeze(-1) - g.unsqueeze(-2)).tril().exp().tril()
    a = (beta.unsqueeze(-1) * ratio * (k @ k.mT)).tril(-1)
    identity = torch.eye(chunk, device="cuda")
    inverse = torch.linalg.solve_triangular(
        identity + a, torch.diag_embed(beta), upper=False, unitriangular=True
    )
    return inverse, ratio * (q @ k.mT), g


def _eager(tokens: Tokens, state: Tensor) -> Tensor:
    group = VALUE_HEADS // KEY_HEADS
    inverse, products, g = _factors(tokens, REFERENCE_CHUNK)
    k = _chunked(tokens.k, REFERENCE_CHUNK).repeat_interleave(group, dim=0)
    q = _chunked(tokens.q, REFERENCE_CHUNK).repeat_interleave(group, dim=0)
    v = _chunked(tokens.v, REFERENCE_CHUNK)
    from_start = g.exp().unsqueeze(-1)
    to_end = (g[..., -1:] - g).exp().unsqueeze(-1)
    outputs = []
    for c in range(k.shape[1]):
        u = inverse[:, c] @ (v[:, c] - from_start[:, c] * (k[:, c] @ state))
        outputs.append(from_start[:, c] * (q[:, c] @ state) + products[:, c] @ u)
        state = from_start[:, c, -1:] * state + (k[:, c] * to_end[:, c]).mT @ u
    return torch.cat(outputs, dim=1).transpose(0, 1).bfloat16()


def _both(first: Callable[[], None], second: Callable[[], None]) -> None:
    first()
    second()


def cases(engine: Engine) -> Iterator[Case]:
    prepare = engine.kernel("gated_delta_rule_prefill_prepare", "gated_delta_rule_prefill_prepare")
    kernel = engine.kernel("gated_delta_rule_prefill", "gated_delta_rule_prefill")
    for length in (512, 8192):
        tokens = random_tokens(length, KEY_HEADS, VALUE_HEADS)
        chunks = length // CHUNK + 1
        shared: dict[str, Any] = {
            "factors": torch.empty(
                chunks, VALUE_HEADS, 3, 32, 8, dtype=torch.bfloat16, device="cuda"
            ),
            "decay": torch.empty(chunks, VALUE_HEADS, CHUNK, device="cuda"),
            "q": tokens.q,
            "k": tokens.k,
            "sequence_offset": torch.tensor([0, length], dtype=torch.int32, device="cuda"),
            "batch": 1,
            "key_heads": KEY_HEADS,
            "value_heads": VALUE_HEADS,
            "key_stride": KEY_HEADS * DIM,
        }
        first = prepare.bind(**shared, g=tokens.g, beta=tokens.beta, max_tokens=length)
        state = torch.zeros(1, VALUE_HEADS, DIM, DIM, device="cuda")
        second = kernel.bind(
            **shared,
            o=torch.empty_like(tokens.v),
            state=state.clone(),
            slot=torch.zeros(1, dtype=torch.int32, device="cuda"),
            v=tokens.v,
            value_stride=VALUE_HEADS * DIM,
        )
        inputs = tokens.q.nbytes + tokens.k.nbytes + tokens.g.nbytes + tokens.beta.nbytes
        shape = f"{length} tokens, {KEY_HEADS} key and {VALUE_HEADS} value heads"
        yield Case(
            kernel="gated_delta_rule_prefill_prepare",
            phase="prefill",
            shape=shape,
            ours=first,
            reference=partial(_factors, tokens, CHUNK),
            reference_name="eager",
            bound="none",
            bytes_moved=inputs + shared["factors"].nbytes + shared["decay"].nbytes,
        )
        yield Case(
            kernel="gated_delta_rule_prefill",
            phase="prefill",
            shape=f"{shape}, both phases",
            ours=partial(_both, first, second),
            reference=partial(_eager, tokens, state[0]),
            reference_name="eager, chunks of 64",
            bound="compute",
            bytes_moved=inputs + 2 * tokens.v.nbytes + 2 * state.nbytes,
            # Three products with the state per token, and what a chunk adds is small beside them.
            flops=3 * 2 * length * VALUE_HEADS * DIM * DIM,
        )
