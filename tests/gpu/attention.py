"""Attention in fp32 with PyTorch, as the attention kernels' tests compare with."""

from __future__ import annotations

from .driver import Tensor, torch

HEAD_DIM = 128
SCALE = HEAD_DIM**-0.5
# Probabilities are rounded to bf16 before they weigh the values: an error of up to 2^-9 of the mean
# |v|. Values of this size keep it below the common absolute tolerance.
V_SCALE = 0.25


def attend(q: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> Tensor:
    """softmax(SCALE * q k^T) v in fp32.

    q is [q_len][q_heads][HEAD_DIM], k and v are [kv_len][kv_heads][HEAD_DIM]; ``visible``
    [q_len][kv_len] says which keys a query sees, each at least one.
    """
    group = q.shape[1] // k.shape[1]
    keys = k.float().repeat_interleave(group, dim=1)
    values = v.float().repeat_interleave(group, dim=1)
    scores = torch.einsum("ihd,jhd->hij", q.float(), keys) * SCALE
    weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return torch.einsum("hij,jhd->ihd", weights, values)


def attend_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same for a batch in front, the last query seeing the last key."""
    q_len, kv_len = q.shape[1], k.shape[1]
    visible = torch.ones(q_len, kv_len, dtype=torch.bool, device=q.device)
    visible = visible.tril(diagonal=kv_len - q_len)
    return torch.stack([attend(q[b], k[b], v[b], visible) for b in range(q.shape[0])])
