"""GitHub's fingerprint of a line, `primaryLocationLineHash`, exactly.

Code scanning computes it itself and warns when a log says something else. A
line's hash is a polynomial over the 100 UTF-16 code units from its start,
blanks left out, so that it lasts when lines above it come and go.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from operator import mul

WINDOW = 100
_MODULUS = 1 << 64
_POWERS: list[int] = [pow(37, exponent, _MODULUS) for exponent in reversed(range(WINDOW))]
_END_OF_FILE = "\uffff"


class LineHashes:
    """The hashes of one file's lines, computed as far down as they are asked for."""

    def __init__(self, data: bytes) -> None:
        self._units = _significant(data) + _END_OF_FILE
        self._padded = self._units + "\0" * WINDOW
        self._windows: list[tuple[str, int]] = []
        self._counts: dict[str, int] = {}
        self._starts = self._line_starts()

    def of_line(self, line: int) -> str | None:
        """The value for a 1-based line, lines ending at LF, CR LF or CR; None past the end.

        After the hash stands how many lines down to this one have it: those
        with the same window.
        """
        for start in islice(self._starts, max(0, line - len(self._windows))):
            window = self._padded[start : start + WINDOW]
            self._counts[window] = self._counts.get(window, 0) + 1
            self._windows.append((window, self._counts[window]))
        if not 1 <= line <= len(self._windows):
            return None
        window, ordinal = self._windows[line - 1]
        return f"{_polynomial(window):x}:{ordinal}"

    def _line_starts(self) -> Iterator[int]:
        """Where each line's significant text starts; an empty line's is its LF."""
        start = 0
        while start < len(self._units):
            yield start
            end = self._units.find("\n", start)
            start = len(self._units) if end < 0 else end + 1


def _significant(data: bytes) -> str:
    """The UTF-16 code units of a file that count, one character each: no space, no tab, no CR."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace(" ", "").replace("\t", "")
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, array("H", text.encode("utf-16-le"))))


def _polynomial(window: str) -> int:
    value: int = sum(map(mul, map(ord, window), _POWERS))
    return value % _MODULUS
