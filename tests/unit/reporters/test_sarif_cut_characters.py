"""Regions in files whose last character is cut short."""

from __future__ import annotations

import pytest

from cudalint.finding import Span
from cudalint.sarif.region import FileRegions


@pytest.mark.parametrize("tail", [b"\xe1\x80", b"\xc3", b"\xf0\x9f\x98", b"\xe1\x80\n"])
def test_a_place_in_a_cut_character_has_bounds(tail: bytes) -> None:
    for data in (b"int a;" + tail, tail):
        regions = FileRegions(data)
        for at in range(len(data) + 1):
            low, high = regions.bounds(Span("a.cu", at, at))
            assert 0 <= low <= high <= len(data)
            first, last = (regions.index.position(offset, "utf16") for offset in (low, high))
            assert first < last or first.column == 1
