"""GitHub's line hash, against an independent, literal reading of its algorithm.

The oracle keeps a ring of 100 units, as the description of the algorithm has it;
the implementation does not.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from line_hash_oracle import oracle

from cudalint.sarif.line_hash import LineHashes

VECTORS = {
    b"": ["c129715d7a2bc9a3:1"],
    b" a\nb\n  \t\tc\n d": [
        "271789c17abda88f:1",
        "54703d4cd895b18:1",
        "180aee12dab6264:1",
        "a23a3dc5e078b07b:1",
    ],
    "int β = 1; // 😀\nint γ;\n".encode(): [
        "f19b61164775f951:1",
        "7f183100536e86de:1",
        "c129715d7a2bc9a3:1",
    ],
    b"\xef\xbb\xbfint x;\r\nint y;\r\n": [
        "6e65a8960366240f:1",
        "e18907962e56e2a4:1",
        "c129715d7a2bc9a3:1",
    ],
    b"one\rtwo\rthree": ["9e10d7ec5c0ad22f:1", "9a7f259d854625cb:1", "e65cf7c92d5cdd03:1"],
    b"bad \xff\xfe bytes\n\xc3": ["6397bf7c45ad4a9e:1", "8989dec65f08d110:1"],
}
"""Written down once, from the oracle; so that both can't drift together."""


@pytest.mark.parametrize("data", VECTORS)
def test_vectors(data: bytes) -> None:
    hashes = LineHashes(data)
    values = [hashes.of_line(line) for line in range(1, len(VECTORS[data]) + 1)]
    assert values == VECTORS[data]
    assert list(oracle(data).values()) == VECTORS[data]
    assert hashes.of_line(len(VECTORS[data]) + 1) is None


@given(
    st.one_of(
        st.binary(max_size=300),
        st.lists(st.sampled_from(["ab", " ", "\t", "\r", "\n", "\r\n", "😀", "é"]), max_size=400)
        .map("".join)
        .map(str.encode),
    )
)
@example(b"x" * 250 + b"\n" + b"y" * 99 + b"\n" * 4)
@example(b"\r \n")
def test_equals_the_ring(data: bytes) -> None:
    hashes = LineHashes(data)
    expected = oracle(data)
    assert {line: hashes.of_line(line) for line in sorted(expected)} == expected


def test_lines_may_be_asked_for_in_any_order() -> None:
    data = b"same\n" * 30
    expected = oracle(data)
    backwards = LineHashes(data)
    assert {line: backwards.of_line(line) for line in sorted(expected, reverse=True)} == expected


def test_blanks_and_lines_above_do_not_matter() -> None:
    base = b"  cudaEventRecord(e);\n  done();\n"
    shifted = b"int before;\r\n\r\n\tcudaEventRecord( e );\r\ndone();\r\n"
    assert LineHashes(base).of_line(1) == LineHashes(shifted).of_line(3)
