"""Kernels of one family, by their names."""

from __future__ import annotations

import pytest

from cudalint.wording.families import related_kernels
from projects import project_of


def related(one: str, other: str) -> bool:
    source = "".join(f"__global__ void {name}(float*) {{}}\n" for name in (one, other))
    first, second = project_of({"a.cu": source}).models["a.cu"].kernels
    return related_kernels([first], second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("scale_f32", "scale_bf16"),
        ("w8a16_gemv", "w4a16_gemv"),
        ("attn_hd64", "attn_hd128"),
        ("x_partial", "x_reduce"),
        ("fill_1", "fill_2"),
        ("moe_gate", "moe_gate_topk"),
        ("gemmKernel", "gemmSplitK"),
        ("softmax", "softmaxBackward"),
        ("quant_e4m3", "quant_e5m2"),
        ("scale", "scale"),
        ("k0", "k1"),
    ],
)
def test_related(one: str, other: str) -> None:
    assert related(one, other)
    assert related(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("add_bf16", "softmax"),
        ("add_f32", "mul_f32"),
        ("rms_norm", "layer_norm"),
        ("moe_gate", "moe_silu"),
        ("row_softmax", "col_softmax"),
        ("a", "b"),
    ],
)
def test_unrelated(one: str, other: str) -> None:
    assert not related(one, other)
    assert not related(other, one)
