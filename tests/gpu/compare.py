"""Comparisons of kernel results with references, with messages that say where and by how much."""

from __future__ import annotations

from typing import Any

from .driver import Tensor, torch

# What a bf16 result of fp32 arithmetic is held to unless a test says why it needs more.
ABS_TOLERANCE = 1e-3
REL_TOLERANCE = 1e-2


def assert_close(
    got: Tensor,
    reference: Tensor,
    abs_tolerance: float = ABS_TOLERANCE,
    rel_tolerance: float = REL_TOLERANCE,
) -> None:
    """Each |got - reference| <= abs + rel * |reference|; NaN and infinities in the same places."""
    assert got.shape == reference.shape, f"shape {tuple(got.shape)}, not {tuple(reference.shape)}"
    actual, wanted = got.double(), reference.double()
    close = torch.isclose(actual, wanted, rtol=rel_tolerance, atol=abs_tolerance, equal_nan=True)
    if bool(close.all()):
        return
    at = tuple(int(i) for i in (~close).nonzero()[0])
    raise AssertionError(
        f"{int((~close).sum())} of {close.numel()} values off; first at {at}: "
        f"{float(actual[at])!r}, not {float(wanted[at])!r}"
    )


def assert_equal(got: Tensor, reference: Tensor) -> None:
    """Equal to the bit, shape and dtype included."""
    assert got.shape == reference.shape, f"shape {tuple(got.shape)}, not {tuple(reference.shape)}"
    assert got.dtype == reference.dtype, f"dtype {got.dtype}, not {reference.dtype}"
    actual = got.contiguous().view(torch.uint8)
    wanted = reference.contiguous().view(torch.uint8)
    if not torch.equal(actual, wanted):
        at = tuple(int(i) for i in (actual != wanted).nonzero()[0])
        count = int((actual != wanted).sum())
        raise AssertionError(f"{count} of {actual.numel()} bytes differ; first at byte {at}")


def randn(*shape: int, seed: int = 0, dtype: Any = None, scale: float = 1.0) -> Tensor:
    """Normal values on the GPU, bf16 unless ``dtype`` says otherwise, the same for one seed."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    values = torch.randn(*shape, generator=generator, device="cuda", dtype=torch.float32)
    return (values * scale).to(dtype or torch.bfloat16)
