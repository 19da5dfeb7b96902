"""Sizes and ranges of the types that integer expressions name.

Names are in the form `cudalint.project.expression` makes of a type: no `std::`, no
`const`, no `int` beside another word. Reading expressions is not done here.
"""

from __future__ import annotations

SIZES = {
    **dict.fromkeys(("bool", "char", "signed char", "unsigned char", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_storage_t", "std::byte"), 1),
    **dict.fromkeys(("short", "unsigned short", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("half", "__half", "__nv_bfloat16", "nv_bfloat16", "char2", "uchar2"), 2),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "int32_t", "uint32_t", "float"), 4),
    **dict.fromkeys(("half2", "__half2", "__nv_bfloat162", "nv_bfloat162", "short2"), 4),
    **dict.fromkeys(("ushort2", "char4", "uchar4"), 4),
    **dict.fromkeys(("long", "unsigned long", "long long", "unsigned long long"), 8),
    **dict.fromkeys(("int64_t", "uint64_t", "size_t", "ptrdiff_t", "double"), 8),
    **dict.fromkeys(("uintptr_t", "intptr_t", "float2", "int2", "uint2", "short4", "ushort4"), 8),
    **dict.fromkeys(("float3", "int3", "uint3", "dim3"), 12),
    **dict.fromkeys(("float4", "int4", "uint4", "double2", "longlong2", "ulonglong2"), 16),
}
"""Bytes of the built-in types, and of CUDA's vector and narrow types, as Linux has them."""

INTEGERS = {
    "bool": (1, False),
    "char": (8, True),
    "signed char": (8, True),
    "int8_t": (8, True),
    "unsigned char": (8, False),
    "uint8_t": (8, False),
    "short": (16, True),
    "int16_t": (16, True),
    "unsigned short": (16, False),
    "uint16_t": (16, False),
    "int": (32, True),
    "int32_t": (32, True),
    "unsigned": (32, False),
    "unsigned int": (32, False),
    "uint32_t": (32, False),
    "long": (64, True),
    "long long": (64, True),
    "int64_t": (64, True),
    "ptrdiff_t": (64, True),
    "unsigned long": (64, False),
    "unsigned long long": (64, False),
    "uint64_t": (64, False),
    "size_t": (64, False),
    "uintptr_t": (64, False),
}
"""Bits of the integer types, and whether they are signed."""
