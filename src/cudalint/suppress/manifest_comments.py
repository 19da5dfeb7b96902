"""The comments of a TOML file: from each `#` outside a string to the line's end.

A scanner and no parser, so that it also works on a manifest that is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.finding import Span
from cudalint.regex import regex


def manifest_comments(path: str, data: bytes) -> Iterator[Span]:
    """The spans of the comments in the manifest at `path`, without their line ends."""
    tokens = regex(
        rb'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
        rb"|'''.*?(?:'{3,5}|\Z)"
        rb'|"(?:\\[^\n]|[^"\\\n])*"?'
        rb"|'[^'\n]*'?"
        rb"|(#[^\r\n]*)",
        re.DOTALL,
    )
    for token in tokens.finditer(data):
        if token.group(1) is not None:
            yield Span(path, token.start(), token.end())
