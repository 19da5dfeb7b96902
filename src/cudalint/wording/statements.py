"""Deletes statements without harming what stands around them.

Which statements are to go, the rules say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.finding import Edit, Span

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def deletion(statement: Span, file: FileModel, data: bytes) -> Edit:
    """The edit that deletes `statement`, its lines too when nothing else is on them.

    A statement that a condition or loop controls without braces, or that a label
    marks, leaves `{}` or `;` behind, so that the next statement does not take its place.
    """
    path = statement.path
    if any(branch.span == statement for branch in file.branches):
        return Edit(statement, "{}")
    before = data[: statement.start].rstrip()
    if before.endswith(b":") and not before.endswith(b"::"):
        return Edit(statement, ";")
    start = data.rfind(b"\n", 0, statement.start) + 1
    end = data.find(b"\n", statement.end) + 1 or len(data)
    alone = not data[start : statement.start].strip() and not data[statement.end : end].strip()
    return Edit(Span(path, start, end) if alone else statement, "")
