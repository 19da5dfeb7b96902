"""Rotary reference: the table of angles, and the rotation in fp32."""

from __future__ import annotations

from .driver import Tensor, torch


def angle_table(max_position: int, rotary_dim: int, base: float = 10_000.0) -> Tensor:
    """fp32 [max_position, rotary_dim]: half cosines, then half sines."""
    half = rotary_dim // 2
    frequency = base ** (-torch.arange(half, dtype=torch.float64, device="cuda") / half)
    position = torch.arange(max_position, dtype=torch.float64, device="cuda")
    angle = position[:, None] * frequency[None, :]
    return torch.cat((angle.cos(), angle.sin()), dim=-1).float()


def rotate(x: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    """fp32 rotation of [tokens, heads, head_dim]; values past the table's width stay."""
    rotary_dim = table.shape[-1]
    half = rotary_dim // 2
    angles = table[positions.long()][:, None, :]
    cos, sin = angles[..., :half], angles[..., half:]
    x32 = x.float()
    first, second = x32[..., :half], x32[..., half:rotary_dim]
    turned = (first * cos - second * sin, second * cos + first * sin, x32[..., rotary_dim:])
    return torch.cat(turned, dim=-1)
