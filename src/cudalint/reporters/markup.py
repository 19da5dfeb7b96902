"""Text put into Markdown so that it stays text: nothing in it formats, links or tags."""

from __future__ import annotations

import re

from cudalint.regex import regex
from cudalint.reporters.visible import visible

_SPECIAL = regex(r"[\\`*_{}\[\]<>()#+!|~&@$-]")


def markdown(text: str) -> str:
    """`text` as one line of Markdown prose, or a cell of a table."""
    line = " ".join(visible(text).split())
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", line)


def markdown_code(text: str) -> str:
    """`text` as a code span, in prose or in a cell of a table."""
    shown = visible(text).replace("\n", " ")
    if "|" in shown:
        # A bar ends a table's cell even in code.
        return f"<code>{markdown(text)}</code>"
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"
