"""Names of number formats, in types, aliases and comments."""

from __future__ import annotations

import pytest

from cudalint.semantics.precision import precision_of, says, stored_format


@pytest.mark.parametrize(
    ("canonical", "name"),
    [
        ("const __nv_bfloat16*", "bf16"),
        ("__nv_bfloat162", "bf16"),
        ("const volatile half&", "f16"),
        ("__half2*", "f16"),
        ("__nv_fp8_e4m3*", "e4m3"),
        ("const __nv_fp8x4_e5m2*", "e5m2"),
        ("__nv_fp8_storage_t*", "fp8"),
        ("__nv_fp4x2_e2m1*", "e2m1"),
        ("signed char*", "int8"),
        ("std::int8_t*", "int8"),
    ],
)
def test_narrow_types(canonical: str, name: str) -> None:
    precision = precision_of(canonical)
    assert precision is not None
    assert precision.name == name


@pytest.mark.parametrize("canonical", ["float*", "int", "unsigned char*", "Params", "T*", "void*"])
def test_other_types(canonical: str) -> None:
    assert precision_of(canonical) is None


@pytest.mark.parametrize(
    ("canonical", "alias", "said"),
    [
        ("__nv_bfloat16", "bf16", True),
        ("__nv_bfloat16", "BFloat16_t", True),
        ("__nv_bfloat16", "bf_16", True),
        ("__nv_bfloat16", "half_t", False),
        ("__nv_bfloat16", "elem", False),
        ("__half", "half_t", True),
        ("__half", "fp16", True),
        ("__half", "f16x2", True),
        ("__half", "float16_t", True),
        ("__half", "bf16", False),
        ("__half", "bfloat16_t", False),
        ("__half", "T", False),
        ("__nv_fp8_e4m3", "fp8_t", True),
        ("__nv_fp8_e4m3", "e4m3", True),
        ("__nv_fp8_e4m3", "e5m2", False),
        ("__nv_fp8_e5m2", "float8", True),
        ("__nv_fp4_e2m1", "nvfp4", True),
        ("int8_t", "i8", True),
        ("int8_t", "q8_t", True),
        ("int8_t", "weight_t", False),
    ],
)
def test_what_an_alias_says(canonical: str, alias: str, said: bool) -> None:
    precision = precision_of(canonical)
    assert precision is not None
    assert says(alias, precision) is said


@pytest.mark.parametrize(
    ("canonical", "text", "stored"),
    [
        ("const uint8_t*", "w_fp8", "fp8"),
        ("unsigned char*", "// [n, k] E4M3", "e4m3"),
        ("uint16_t*", "/* bf16 */", "bf16"),
        ("unsigned short*", "half_out", "half"),
        ("uint16_t*", "w_fp8", None),
        ("uint8_t*", "x_bf16", None),
        ("uint8_t*", "nvfp4 packed", None),
        ("uint8_t*", "fp80", None),
        ("uint8_t*", "buffer8", None),
        ("float*", "w_fp8", None),
        ("__nv_fp8_storage_t*", "w_fp8", None),
    ],
)
def test_what_plain_bytes_hold(canonical: str, text: str, stored: str | None) -> None:
    assert stored_format(canonical, text) == stored
