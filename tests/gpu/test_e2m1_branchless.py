"""Software E2M1 conversion and its NVFP4 group scales, exact against a table of the format."""

from __future__ import annotations

import pytest

from .compare import assert_equal, randn
from .driver import Engine, Tensor, launch_twice, torch

GROUP = 16
MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def nearest_code(x: Tensor) -> Tensor:
    """The code whose value is nearest in fp64; a tie goes to the even code."""
    table = torch.tensor(MAGNITUDES, dtype=torch.float64, device="cuda")
    distance = (x.double().abs()[..., None].clamp(max=6.0) - table).abs()
    even_first = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7], device="cuda")
    code = even_first[distance[..., even_first].argmin(-1)]
    return code + 8 * torch.signbit(x).long()


def quantise(engine: Engine, x: Tensor, inv_global: float) -> tuple[Tensor, Tensor]:
    n = x.numel()
    got = launch_twice(
        engine.kernel("e2m1_branchless", "e2m1_branchless"),
        lambda: {
            "packed": torch.empty(n // 2, dtype=torch.uint8, device="cuda"),
            "scales": torch.empty(n // GROUP, dtype=torch.float8_e4m3fn, device="cuda"),
            "x": x,
            "inv_global": inv_global,
            "n": n,
        },
        outputs=["packed", "scales"],
    )
    return got["packed"], got["scales"]


def unpack(packed: Tensor) -> Tensor:
    return torch.stack((packed & 15, packed >> 4), dim=-1).flatten().long()


def device_scalar(value: float) -> Tensor:
    """fp32 on the GPU: dividing by a Python number could go through its reciprocal."""
    return torch.tensor(value, dtype=torch.float32, device="cuda")


@pytest.mark.parametrize("n", [16, 32, 4080, 4096, 4112, 1_000_000])
@pytest.mark.parametrize("inv_global", [1.0, 37.5])
def test_e2m1_quantisation(engine: Engine, n: int, inv_global: float) -> None:
    x = randn(n, dtype=torch.float32, scale=2.0)
    packed, scales = quantise(engine, x, inv_global)
    groups = x.view(-1, GROUP)
    amax = groups.abs().amax(-1)
    wanted = (amax / device_scalar(6.0) * inv_global).clamp(max=448.0).to(torch.float8_e4m3fn)
    assert_equal(scales, wanted)
    inverse = device_scalar(inv_global) / wanted.float()
    assert_equal(unpack(packed), nearest_code(groups * inverse[:, None]).flatten())


def test_e2m1_every_tie_and_its_neighbours(engine: Engine) -> None:
    """A leading 6 makes the scale 1, so the codes are those of the values themselves."""
    midpoints = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], device="cuda")
    up = torch.nextafter(midpoints, torch.full_like(midpoints, 9.0))
    down = torch.nextafter(midpoints, torch.zeros_like(midpoints))
    exact = torch.tensor(MAGNITUDES[:7], device="cuda")
    values = torch.cat((midpoints, up, down, exact))
    values = torch.cat((values, -values, torch.zeros(4, device="cuda")))
    groups = torch.cat((torch.full((4, 1), 6.0, device="cuda"), values.view(4, 15)), dim=1)
    x = groups.flatten().contiguous()
    packed, scales = quantise(engine, x, 1.0)
    assert scales.float().tolist() == [1.0] * 4
    assert_equal(unpack(packed), nearest_code(x))


def test_e2m1_zeros_nan_and_infinity(engine: Engine) -> None:
    x = torch.zeros(4 * GROUP, device="cuda")
    x[1] = -0.0
    x[GROUP], x[GROUP + 1] = 6.0, float("nan")
    x[2 * GROUP], x[2 * GROUP + 1] = float("inf"), -1.0
    x[3 * GROUP], x[3 * GROUP + 1] = -float("inf"), -float("nan")
    packed, scales = quantise(engine, x, 1.0)
    assert scales.float().tolist() == [0.0, 1.0, 448.0, 448.0]
    codes = unpack(packed).view(4, GROUP)[:, :2].tolist()
    assert codes == [[0, 8], [7, 7], [7, 8], [15, 7]]
