"""Inputs and fp32 references that the tests of the expert kernels share."""

from __future__ import annotations

from dataclasses import dataclass

from .compare import randn
from .driver import Tensor, torch

# The values of the sixteen E2M1 codes: sign in bit 3, then 2 bits of exponent and 1 of mantissa.
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
SCALE_BLOCK = 16


@dataclass(frozen=True)
class Nvfp4:
    """NVFP4 weights [experts][n][k] in their stored form; see ``dequantised``."""

    packed: Tensor  # uint8 [experts][n][k / 2], the even k in the lower nibble
    block_scale: Tensor  # e4m3 [experts][n][k / 16]
    global_scale: Tensor  # fp32 [experts]

    def dequantised(self, expert: int) -> Tensor:
        """The fp32 weights [n][k] of one expert."""
        values = torch.tensor(E2M1, device="cuda")
        packed = self.packed[expert].long()
        codes = torch.stack((packed & 15, packed >> 4), dim=-1).flatten(-2)
        scale = self.block_scale[expert].float().repeat_interleave(SCALE_BLOCK, dim=-1)
        return values[codes] * scale * self.global_scale[expert]


def random_nvfp4(experts: int, n: int, k: int, seed: int = 0) -> Nvfp4:
    """Every code occurs, and block scales from subnormal to 4."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device="cuda")

    return Nvfp4(
        packed=(uniform(experts, n, k // 2) * 256).to(torch.uint8),
        block_scale=torch.exp2(uniform(experts, n, k // SCALE_BLOCK) * 11 - 9).to(
            torch.float8_e4m3fn
        ),
        global_scale=(uniform(experts) + 0.5) * k**-0.5,
    )


def random_e4m3(*shape: int, seed: int = 0) -> Tensor:
    """Normal values as e4m3, subnormal ones among them."""
    return randn(*shape, seed=seed, dtype=torch.float32).to(torch.float8_e4m3fn)


@dataclass(frozen=True)
class Routing:
    """Slots sorted by expert, for tokens that each chose ``top_k`` experts."""

    row_of_slot: Tensor  # int32 [slots]
    expert_offset: Tensor  # int32 [experts + 1]
    slot_of: Tensor  # int32 [tokens][top_k]


def routing(choices: Tensor, experts: int) -> Routing:
    """Sorts ``choices``, int [tokens][top_k]; equal experts stay in token order."""
    tokens, top_k = choices.shape
    order = torch.argsort(choices.flatten(), stable=True)
    slot_of = torch.empty_like(order)
    slot_of[order] = torch.arange(tokens * top_k, device="cuda")
    counts = torch.bincount(choices.flatten(), minlength=experts)
    offset = torch.zeros(experts + 1, dtype=torch.int32, device="cuda")
    offset[1:] = counts.cumsum(0)
    return Routing((order // top_k).int(), offset, slot_of.view(tokens, top_k).int())


def random_choices(tokens: int, experts: int, top_k: int, seed: int = 0) -> Tensor:
    """``top_k`` different experts for each token."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    scores = torch.rand(tokens, experts, generator=generator, device="cuda")
    return scores.topk(top_k, dim=1).indices
