"""Finds a file's SPDX licence line, and compares licence expressions.

What is wrong with where or how it stands is the business of rule CU101.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

TAG = "SPDX-License-Identifier"
_LINE = regex(
    rb"^[ \t]*(?:(?://[/!]*|/\*[*!]?|\*)[ \t]*)?SPDX-License-Identifier(?:[ \t]*:)?([^\r\n]*)\r?$",
    re.MULTILINE | re.IGNORECASE,
)


class Header(msgspec.Struct, frozen=True):
    """A licence line: its `license` expression and how it stands.

    `span` is the comment when it is one line, else the line inside of it, as
    `text` shows it. `block`: it is in a `/* */` comment. `whole`: nothing else
    is in that comment, and nothing but white space beside it on its line.
    """

    span: Span
    text: str
    license: str
    block: bool
    whole: bool


def find_header(file: FileModel, data: bytes) -> Header | None:
    """The first comment line of the file that is an SPDX licence line."""
    for comment in file.comments:
        if TAG.lower() not in comment.text.lower():
            continue
        span = comment.span
        match = _LINE.search(data, span.start, span.end)
        if match is None:
            continue
        block = data[span.start : span.start + 2] == b"/*"
        single = b"\n" not in data[span.start : span.end]
        start, end = match.start(), match.end()
        if single:
            start, end = span.start, span.end
        text = data[start:end].decode("utf-8", "replace").strip()
        line_end = data.find(b"\n", end)
        rest = data[end : len(data) if line_end < 0 else line_end].strip()
        return Header(
            span=Span(file.path, start, end - (data[start:end].endswith(b"\r"))),
            text=text if block else data[start:end].decode("utf-8", "replace").rstrip("\r"),
            license=match[1].strip().removesuffix(b"*/").rstrip().decode("utf-8", "replace"),
            block=block,
            whole=single and comment.alone and not rest,
        )
    return None


def same_license(one: str, other: str) -> bool:
    """Whether two SPDX expressions allow the same: order and spacing do not count."""
    if one.split() == other.split():
        return True
    from license_expression import ExpressionError, Licensing

    licensing = Licensing()
    try:
        parsed = [licensing.parse(text, simple=True) for text in (one, other)]
    except ExpressionError:
        return False
    if None in parsed:
        return False
    return bool(parsed[0].simplify() == parsed[1].simplify())
