"""From comments to directives: the words, their lists and their reasons.

Works on the bytes of the file, so that every offset is exact. Which findings a
directive silences is `cudalint.suppress.reach`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.suppress.catalogue import Catalogue
from cudalint.suppress.model import Directive, Form, Item

_FORMS: dict[bytes, Form] = {
    b"NOLINT": "NOLINT",
    b"NOLINTNEXTLINE": "NOLINTNEXTLINE",
    b"NOLINTBEGIN": "NOLINTBEGIN",
    b"NOLINTEND": "NOLINTEND",
    b"ignore": "ignore",
    b"ignore-file": "ignore-file",
}


def may_suppress(data: bytes) -> bool:
    """Whether a file's bytes can hold a directive at all; cheap, and never wrongly false."""
    return b"NOLINT" in data or b"cudalint:" in data


def directives(
    path: str, data: bytes, comments: Iterable[Span], catalogue: Catalogue
) -> Iterator[Directive]:
    """The directives in `comments` (spans of the file at `path`), in file order."""
    words = regex(
        rb"(?<!\w)(?:(NOLINT(?:NEXTLINE|BEGIN|END)?)(?!\w)(?:\(([^()\n]*)\))?"
        rb"|cudalint:[ \t]*(ignore(?:-file)?)\[([^\[\]\n]*)\])"
    )
    for comment in comments:
        matches = list(words.finditer(data, comment.start, comment.end))
        for at, match in enumerate(matches):
            last = at + 1 == len(matches)
            limit = _content_end(data, comment) if last else matches[at + 1].start()
            yield _directive(path, data, comment, match, limit, catalogue)


def _directive(
    path: str,
    data: bytes,
    comment: Span,
    match: re.Match[bytes],
    limit: int,
    catalogue: Catalogue,
) -> Directive:
    """The directive that `match` found; its reason may go on up to `limit`."""
    ours = match.group(3) is not None
    form = _FORMS[match.group(3) if ours else match.group(1)]
    group = 4 if ours else 2
    items: tuple[Item, ...] | None = None
    excluded: frozenset[str] = frozenset()
    if match.group(group) is not None:
        items = tuple(_items(path, data, match.start(group), match.end(group), catalogue))
        excluded = frozenset().union(
            *(catalogue.resolve(i.text[1:])[1] for i in items if i.text.startswith("-"))
        )
    tail, reason = _reason(data, match.end(), limit, ours)
    return Directive(
        form=form,
        span=Span(path, match.start(), match.end()),
        comment=comment,
        tail=tail,
        text=match.group(0).decode("utf-8", "replace"),
        items=items,
        excluded=excluded,
        reason=reason,
    )


def _items(path: str, data: bytes, start: int, end: int, catalogue: Catalogue) -> Iterator[Item]:
    """The names between the brackets, which stand at `start` and `end`."""
    for match in regex(rb"[^,\s][^,]*(?<!\s)").finditer(data, start, end):
        text = match.group().decode("utf-8", "replace")
        ours, codes = catalogue.resolve(text)
        yield Item(Span(path, match.start(), match.end()), text, ours, codes)


def _reason(data: bytes, start: int, limit: int, ours: bool) -> tuple[int, str]:
    """Where the reason after a directive's list ends, and its words.

    NOLINT asks for a `:` before it; after our own `]` it stands directly.
    Text with no letter or digit in it gives no reason.
    """
    text = data[start:limit].decode("utf-8", "replace")
    if not ours and not text.lstrip().startswith(":"):
        return start, ""
    tail = start + len(data[start:limit].rstrip())
    lines = (line.strip().lstrip("*").strip() for line in text.splitlines())
    reason = " ".join(line for line in lines if line).lstrip(":-–— ")
    return tail, reason if any(char.isalnum() for char in reason) else ""


def _content_end(data: bytes, comment: Span) -> int:
    """The end of a comment's text: before `*/`."""
    closed = data.startswith(b"/*", comment.start) and data.endswith(b"*/", 0, comment.end)
    return comment.end - 2 if closed else comment.end
