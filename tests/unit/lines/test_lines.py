"""LineIndex: lines, columns in three units, and the laws that hold for any bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.lines import LineIndex, LineRange, Position, Unit

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "offset", "unit", "line", "column"),
    [
        (b"", 0, "characters", 1, 1),
        (b"ab\ncd", 4, "characters", 2, 2),
        (b"ab\r\ncd", 2, "characters", 1, 3),
        (b"ab\r\ncd", 3, "characters", 1, 3),
        (b"ab\r\ncd", 4, "characters", 2, 1),
        (b"a\rb\n", 2, "characters", 1, 3),
        (b"\t\tx", 2, "utf16", 1, 3),
        (BOM + b"ab", 4, "characters", 1, 2),
        (BOM + b"ab", 0, "bytes", 1, 1),
        (BOM + b"ab\n" + BOM + b"c", 9, "characters", 2, 2),
        ("é😀x".encode(), 6, "characters", 1, 3),
        ("é😀x".encode(), 6, "utf16", 1, 4),
        ("é😀x".encode(), 6, "bytes", 1, 7),
        ("é😀x".encode(), 4, "characters", 1, 2),
        (b"\xc3 x", 1, "characters", 1, 2),
        (b"\xe0\x9fx", 1, "characters", 1, 2),
        (b"\xff\xfex", 2, "characters", 1, 3),
        (b"ab\n", 3, "characters", 2, 1),
        (b"ab\n", 99, "characters", 2, 1),
    ],
)
def test_position(data: bytes, offset: int, unit: Unit, line: int, column: int) -> None:
    assert LineIndex(data).position(offset, unit) == Position(line, column)


@pytest.mark.parametrize(
    ("data", "count"), [(b"", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r", 1)]
)
def test_count(data: bytes, count: int) -> None:
    assert LineIndex(data).count == count


def test_text_has_neither_bom_nor_line_end() -> None:
    index = LineIndex(BOM + "α\r\nβ\n".encode() + b"\xff")
    assert [index.text(line) for line in (1, 2, 3)] == ["α", "β", "\ufffd"]


def test_a_line_that_is_not_there() -> None:
    index = LineIndex(b"a\nb")
    with pytest.raises(IndexError, match="no line 3"):
        index.bounds(3)
    with pytest.raises(IndexError, match="no line 0"):
        index.offset(Position(0, 1))


def test_a_range_that_takes_a_whole_line_stops_at_its_end() -> None:
    index = LineIndex(b"ab\r\ncd\n")
    assert index.range(0, 4) == LineRange(Position(1, 1), Position(1, 3))
    assert index.range(4, 7) == LineRange(Position(2, 1), Position(2, 3))
    assert index.range(1, 5) == LineRange(Position(1, 2), Position(2, 2))
    assert index.range(4, 4) == LineRange(Position(2, 1), Position(2, 1))


pieces = st.lists(
    st.one_of(
        st.sampled_from([b"\n", b"\r\n", b"\r", b"\t", BOM, "é".encode(), "😀".encode(), b"a"]),
        st.binary(max_size=4),
    ),
    max_size=12,
).map(b"".join)
units = st.sampled_from(["characters", "utf16", "bytes"])


@given(pieces, units)
def test_positions_never_go_back(data: bytes, unit: Unit) -> None:
    index = LineIndex(data)
    seen = [index.position(offset, unit) for offset in range(len(data) + 1)]
    assert seen == sorted(seen)
    assert seen[0] == Position(1, 1)


@given(pieces)
def test_the_end_of_each_line_is_its_decoded_length(data: bytes) -> None:
    index = LineIndex(data)
    for line in range(1, index.count + 1):
        start, end = index.bounds(line)
        text = index.text(line)
        assert index.position(start) == Position(line, 1)
        assert index.position(end) == Position(line, len(text) + 1)
        utf16 = len(text.encode("utf-16-le", "surrogatepass")) // 2
        assert index.position(end, "utf16") == Position(line, utf16 + 1)


@given(st.text(max_size=30).map(str.encode), units)
def test_offset_undoes_position_at_every_character(data: bytes, unit: Unit) -> None:
    index = LineIndex(data)
    for line in range(1, index.count + 1):
        start, end = index.bounds(line)
        at = start
        for char in data[start:end].decode():
            assert index.offset(index.position(at, unit), unit) == at
            at += len(char.encode())
        assert index.offset(Position(line, 10_000), unit) == end
