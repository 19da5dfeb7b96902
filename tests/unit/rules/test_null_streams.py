"""How a null stream is spelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.hostcode.streams import is_stream_type, null_stream

KINDS = {
    "0": "zero",
    "0L": "zero",
    "0x0": "zero",
    "(0)": "zero",
    "NULL": "null",
    "nullptr": "nullptr",
    "cudaStreamDefault": "flag",
    "::cudaStreamLegacy": "legacy",
    "CU_STREAM_LEGACY": "legacy",
    "(cudaStream_t)1": "legacy",
    "(CUstream)0x1": "legacy",
    "{}": "braces",
    "cudaStream_t{}": "braces",
    "cudaStream_t()": "braces",
    "(cudaStream_t)0": "cast",
    "(cudaStream_t) NULL": "cast",
    "((cudaStream_t)(0))": "cast",
    "(CUstream_st*)nullptr": "cast",
    "(struct CUstream_st *)0": "cast",
    "(stream_t)0": "cast",
    "cudaStream_t(0)": "cast",
    "CUstream{nullptr}": "cast",
    "static_cast<cudaStream_t>(nullptr)": "cast",
    "reinterpret_cast< cudaStream_t >( 0 )": "cast",
    "(cudaStream_t)(cudaStream_t)0": "cast",
}


@pytest.mark.parametrize(("text", "kind"), KINDS.items())
def test_null(text: str, kind: str) -> None:
    assert null_stream(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        *("s", "streams[0]", "get(0)", "f({})", "", "s ? s : 0", "{0}", "cudaStreamPerThread"),
        *("(cudaStream_t)s", "cudaStream_t(s)", "(cudaStream_t)0x2", "(a)(0)", "pool.at(0)"),
        *("static_cast<cudaStream_t>(s)", "0 + 0", "()", "(", ")", "((cudaStream_t)0"),
    ],
)
def test_not_null(text: str) -> None:
    assert null_stream(text) is None


@given(st.sampled_from(sorted(KINDS)), st.integers(0, 3))
def test_parentheses_change_nothing(text: str, count: int) -> None:
    if text == "{}":
        return
    assert null_stream("(" * count + text + ")" * count) == KINDS[text]


@given(st.text(alphabet="(){}<>*:,0 1cudaStream_tNULL", max_size=24))
def test_any_text_has_an_answer(text: str) -> None:
    assert null_stream(text) in (None, *KINDS.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cudaStream_t", True),
        ("const cudaStream_t&", True),
        ("::CUstream", True),
        ("cudaStream_t*", False),
        ("std::vector<cudaStream_t>", False),
        ("CudaStream", False),
    ],
)
def test_stream_types(text: str, expected: bool) -> None:
    assert is_stream_type(text) is expected
