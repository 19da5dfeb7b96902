"""Inputs and the token-by-token fp64 reference of the gated delta rule."""

from __future__ import annotations

from dataclasses import dataclass

from .compare import randn
from .driver import Tensor, torch

DIM = 128  # of a key head and of a value head


@dataclass(frozen=True)
class Tokens:
    """One or more tokens: q, k [tokens][key_heads][DIM], v [tokens][value_heads][DIM] in bf16, g
    and beta [tokens][value_heads] in fp32."""

    q: Tensor
    k: Tensor
    v: Tensor
    g: Tensor
    beta: Tensor

    def slice(self, begin: int, end: int) -> Tokens:
        return Tokens(*(x[begin:end] for x in (self.q, self.k, self.v, self.g, self.beta)))


def random_tokens(tokens: int, key_heads: int, value_heads: int, seed: int = 0) -> Tokens:
    """As a model has them: k of length 1, q of length DIM ** -0.5, decays from 1 down to 1e-4."""
    q = randn(tokens, key_heads, DIM, seed=seed, dtype=torch.float32)
    k = randn(tokens, key_heads, DIM, seed=seed + 1, dtype=torch.float32)
    g = randn(tokens, value_heads, seed=seed + 3, dtype=torch.float32)
    beta = randn(tokens, value_heads, seed=seed + 4, dtype=torch.float32)
    return Tokens(
        q=(torch.nn.functional.normalize(q, dim=-1) * DIM**-0.5).bfloat16(),
        k=torch.nn.functional.normalize(k, dim=-1).bfloat16(),
        v=randn(tokens, value_heads, DIM, seed=seed + 2),
        g=-torch.exp(2 * g - 2).clamp(max=9),
        beta=beta.sigmoid(),
    )


def recurrence(tokens: Tokens, state: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs [tokens][value_heads][DIM] and the state [value_heads][DIM][DIM] after, in fp64."""
    group = tokens.v.shape[1] // tokens.q.shape[1]
    q = tokens.q.double().repeat_interleave(group, dim=1)
    k = tokens.k.double().repeat_interleave(group, dim=1)
    v, decay, beta = tokens.v.double(), tokens.g.double().exp(), tokens.beta.double()
    state = state.double()
    outputs = []
    for t in range(len(q)):
        decayed = decay[t][:, None, None] * state
        read = torch.einsum("hkv,hk->hv", decayed, k[t])
        step = beta[t][:, None] * (v[t] - read)
        state = decayed + k[t][:, :, None] * step[:, None, :]
        outputs.append(torch.einsum("hkv,hk->hv", state, q[t]))
    if not outputs:
        return v, state
    return torch.stack(outputs), state
