"""Where a comment that silences a finding may stand, and what it says there.

A placement never changes code: it is tried, and taken only if all but comments
and white space stays as it is. Which one is used is `cudalint.adoption.suppressing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.finding import Finding, Span
from cudalint.lines import LineIndex
from cudalint.suppress.extents import Extents
from cudalint.suppress.manifest_comments import manifest_comments
from cudalint.syntax.lexer import lex

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

WIDTH = 100
"""A line that a comment would make longer gets it on a line of its own, above."""

_BOM = b"\xef\xbb\xbf"


class Placement(msgspec.Struct, frozen=True, order=True):
    """A comment at the byte `at`: on a line with code, above a line, or on top of the file.

    `prefix` and `suffix` are what stands around its words.
    """

    at: int
    kind: Literal["end", "above", "top"]
    prefix: str
    suffix: str = ""

    def text(self, codes: list[str], reason: str) -> str:
        """The comment that silences `codes`."""
        names = ",".join(sorted(set(codes)))
        if self.kind == "top":
            said = f"cudalint: ignore-file[{names}] {reason}"
        else:
            said = f"{'NOLINT' if self.kind == 'end' else 'NOLINTNEXTLINE'}({names}): {reason}"
        return f"{self.prefix}{said}{self.suffix}"


class Placements:
    """The places in one file; `model` is None for a manifest."""

    def __init__(self, path: str, data: bytes, model: FileModel | None, reason: str) -> None:
        self._data = data
        self._index = LineIndex(data)
        self._mark = "#" if path.endswith(".toml") else "//"
        self._path = path
        self._extents = Extents(model, data)
        self._reason = reason
        self._code = code_of(path, data)
        self._comments = [(c.start, c.end) for c in comments_of(path, data)]

    def of(self, finding: Finding) -> Iterator[Placement]:
        """The places for a comment on `finding`, the best first.

        One on top of the file comes last: it silences what is yet to come too.
        """
        span = finding.span
        found = []
        if (span.start, span.end) != (0, 0):
            lines = self._lines(finding)
            beside = [place for line in lines for place in (self._end(line), self._above(line))]
            found = [p for p in beside if p is not None and self._keeps_code(p, finding.code)]
            amid = () if found else self._amid(span)
            found += [place for place in amid if self._keeps_code(place, finding.code)]
        yield from found
        top = self._top()
        if self._keeps_code(top, finding.code):
            yield top

    def _lines(self, finding: Finding) -> list[int]:
        """The lines on which a suppression counts: where the finding is, and where its code is."""
        spans = [finding.span]
        spans += [span for span in finding.extents if span.path == self._path]
        spans += self._extents.around(finding.span)
        lines = [self._index.line_of(span.start) for span in spans]
        lines += [self._index.line_of(max(span.start, span.end - 1)) for span in spans]
        return list(dict.fromkeys(lines))

    def _end(self, line: int) -> Placement | None:
        """After the code of a line, or after the words of its comment."""
        start, end = self._index.bounds(line)
        text = self._data[start:end]
        if self._goes_on(line) or b"SPDX-License-Identifier" in text:
            return None
        mark = self._mark.encode()
        within = any(
            low <= end <= high and self._data.startswith(mark, low) and start <= low
            for low, high in self._comments
        )
        blank = text.rstrip()
        place = Placement(start + len(blank), "end", " " if within else f"  {self._mark} ", "")
        wide = len(blank.decode("utf-8", "replace")) + len(place.text(["CU000"], self._reason))
        return place if wide <= WIDTH else None

    def _amid(self, span: Span) -> Iterator[Placement]:
        """At a blank behind the finding or before it, where the end of its line is no place.

        A raw string may begin there, or a macro go on.
        """
        if self._mark == "#":
            return
        start, end = self._index.bounds(self._index.line_of(span.start))
        for at in (self._data.find(b" ", span.end, end), self._data.rfind(b" ", start, span.start)):
            if at >= 0 and not any(low < at < high for low, high in self._comments):
                yield Placement(at, "end", " /* ", " */")

    def _above(self, line: int) -> Placement | None:
        """On a line of its own, with the line's indentation and line end."""
        start, end = self._index.bounds(line)
        if line == 1 or self._goes_on(line - 1):
            return None
        text = self._data[start:end]
        indent = text[: len(text) - len(text.lstrip())].decode()
        return Placement(start, "above", f"{indent}{self._mark} ", self._line_end(line))

    def _top(self) -> Placement:
        """On top of the file, below a licence line."""
        start, end = self._index.bounds(1)
        first = self._data[start:end]
        below = b"\n" in self._data and not self._goes_on(1)
        if first.startswith(self._mark.encode()) and b"SPDX" in first and below:
            at = self._data.index(b"\n") + 1
        else:
            at = len(_BOM) if self._data.startswith(_BOM) else 0
        return Placement(at, "top", f"{self._mark} ", self._line_end(1))

    def _goes_on(self, line: int) -> bool:
        """Whether a line is joined with the next one: a comment would take it in, or part them."""
        start, end = self._index.bounds(line)
        return self._data[start:end].endswith((b"\\", b"??/"))

    def _line_end(self, line: int) -> str:
        """The line end of a line; of the one before, for a last line without."""
        for at in (line, line - 1):
            if at < 1:
                continue
            after = self._data[self._index.bounds(at)[1] :][:2]
            if after[:1] in (b"\n", b"\r"):
                return "\r\n" if after == b"\r\n" else "\n"
        return "\n"

    def _keeps_code(self, place: Placement, code: str) -> bool:
        """Whether a comment there is one, and changes no code."""
        text = place.text([code], self._reason).encode()
        data = self._data[: place.at] + text + self._data[place.at :]
        if code_of(self._path, data) != self._code:
            return False
        word = place.at + text.index(code.encode())
        return any(c.start <= word < c.end for c in comments_of(self._path, data))


def comments_of(path: str, data: bytes) -> list[Span]:
    """The comments of a source or a manifest, in file order."""
    if path.endswith(".toml"):
        return list(manifest_comments(path, data))
    return sorted(Span(path, start, end) for start, end in lex(data).comments)


def code_of(path: str, data: bytes) -> bytes:
    """A file without its comments, and with white space told by one blank; lines still count.

    Where a line ends, a directive does: an end of line inside one is kept.
    """
    pieces, at = [], 0
    for comment in comments_of(path, data):
        if comment.start >= at:
            pieces.append(data[at : comment.start])
            at = comment.end
    pieces.append(data[at:])
    lines = b" ".join(pieces).removeprefix(_BOM).split(b"\n")
    kept = [b" ".join(line.split()) for line in lines]
    return b"\n".join(line for line in kept if line)
