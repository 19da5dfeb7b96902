"""The edits that take a directive, or one name of it, out of the source.

An edit never joins two words of code and never takes text away that is not
part of the directive.
"""

from __future__ import annotations

from collections.abc import Collection

from cudalint.finding import Edit, Span
from cudalint.suppress.model import Directive

_BLANK = b" \t\r\v\f"
_MARKS = _BLANK + b"\n/*!<#"


def first_kept(directive: Directive, removed: Collection[int | None]) -> int | None:
    """The first item of the list that stays when `removed` go; None if none does."""
    items = range(len(directive.items or ()))
    return next((at for at in items if at not in removed), None)


def removal(directive: Directive, data: bytes, item: int | None, kept: int | None) -> Edit:
    """The edit that takes `item` out, where `kept` is the first item that stays.

    With nothing left in the list, it is the edit that takes the whole directive
    out, the same for each of its items.
    """
    items = directive.items
    if items is None or item is None or kept is None:
        return _whole(directive, data)
    path = directive.span.path
    if item < kept:
        return Edit(Span(path, items[item].span.start, items[item + 1].span.start), "")
    return Edit(Span(path, items[item - 1].span.end, items[item].span.end), "")


def _whole(directive: Directive, data: bytes) -> Edit:
    """Take the directive with its reason, and its comment when nothing else is in it."""
    comment = directive.comment
    before = data[comment.start : directive.span.start]
    after = data[directive.tail : comment.end]
    if not before.strip(_MARKS) and not after.strip(_MARKS):
        return _comment(comment, data)
    start, end = directive.span.start, directive.tail
    if before.strip(_MARKS):
        start -= len(before) - len(before.rstrip(_BLANK))
    else:
        end += len(after) - len(after.lstrip(_BLANK))
    return Edit(Span(comment.path, start, end), "")


def _comment(comment: Span, data: bytes) -> Edit:
    """Take a comment out, with its line when it stands there alone."""
    line_start = data.rfind(b"\n", 0, comment.start) + 1
    if line_start == 0 and data.startswith(b"\xef\xbb\xbf"):
        line_start = 3
    line_end = data.find(b"\n", comment.end)
    line_end = len(data) if line_end < 0 else line_end
    left = data[line_start : comment.start]
    right = data[comment.end : line_end]
    start, end, text = comment.start, comment.end, ""
    if not right.strip(_BLANK):
        if left.strip(_BLANK):
            start -= len(left) - len(left.rstrip(_BLANK))
        else:
            start, end = line_start, min(line_end + 1, len(data))
    elif not left.strip(_BLANK) or left[-1:].isspace():
        end += len(right) - len(right.lstrip(_BLANK))
    elif not right[:1].isspace():
        text = " "
    return Edit(Span(comment.path, start, end), text)
