"""cudalint's own fingerprint of a finding: what it is about, not on which line.

It holds the rule, the file, the function around, the text of the lines with
white space and comments left out (a suppression must not change it), and how
many equal ones came before in the file.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from cudalint.finding import Finding, Span
from cudalint.lines import LineIndex

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

KEY = "cudalint/v1"

Subject = tuple[str, str, str, bytes]
"""A finding's code, its file's name, the function around, and the text of its lines."""

_LONGEST = 4096
"""The most bytes of text that a subject holds: of more it has the digest.

Thousands of findings may be on one endless line, and each hashes its subject.
"""


def fingerprint(subject: Subject, ordinal: int) -> str:
    """The fingerprint of a finding before which `ordinal` of the same subject came in its file."""
    *names, text = subject
    first = "\0".join(map(str, (*names, ordinal))).encode("utf-8", "surrogateescape")
    return hashlib.sha256(first + b"\0" + text).hexdigest()


class FileFingerprints:
    """Makes the fingerprints of one file's findings, which must come in file order.

    `name` is the file's path relative to the repository.
    """

    def __init__(self, name: str, data: bytes, index: LineIndex, model: FileModel | None) -> None:
        self._name = name
        self._data = data
        self._index = index
        self._functions = EnclosingFunctions(model)
        self._seen: Counter[Subject] = Counter()
        self._texts: dict[tuple[int, int], bytes] = {}

    def of(self, finding: Finding) -> str:
        """The fingerprint of the next finding."""
        subject = self.subject(finding)
        ordinal = self._seen[subject]
        self._seen[subject] += 1
        return fingerprint(subject, ordinal)

    def subject(self, finding: Finding) -> Subject:
        """What the finding is about."""
        around = self._functions.around(finding.span.start)
        return finding.code, self._name, around, self._text(finding.span)

    def _text(self, span: Span) -> bytes:
        """The significant text of the lines of a span; nothing for a whole file."""
        if span.start == span.end == 0:
            return b""
        first = self._index.bounds(self._index.line_of(span.start))[0]
        last = self._index.bounds(self._index.line_of(max(span.start, span.end - 1)))[1]
        if (first, last) not in self._texts:
            self._texts[first, last] = _significant(self._data[first:last])
        return self._texts[first, last]


def _significant(text: bytes) -> bytes:
    """Text without comments and with one blank for white space, or the digest of that."""
    if b"/" in text:
        text = re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.DOTALL)
    words = b" ".join(text.split())
    return words if len(words) <= _LONGEST else hashlib.sha256(words).hexdigest().encode()


class EnclosingFunctions:
    """Which function an offset of a file lies in."""

    def __init__(self, model: FileModel | None) -> None:
        events: list[tuple[int, int, str]] = []
        for function in model.functions if model else ():
            if function.use is None and not function.lambda_ and function.kind == "definition":
                name = "::".join((*function.scope, function.name))
                events.append((function.span.start, 1, name))
                events.append((function.span.end, 0, name))
        self._starts: list[int] = []
        self._names: list[str] = []
        open_: list[str] = []
        for offset, opens, name in sorted(events):
            if opens:
                open_.append(name)
            elif name in open_:
                open_.remove(name)
            self._starts.append(offset)
            self._names.append(open_[-1] if open_ else "")

    def around(self, offset: int) -> str:
        """The qualified name of the innermost function at `offset`, "" for none."""
        at = bisect_right(self._starts, offset) - 1
        return self._names[at] if at >= 0 else ""
