"""The terminal results of a run: the pairs of a copy and a wait, and which are marked.

What makes such a pair is `cudalint.hostcode.terminal`; what is said about it is the
business of the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing
from cudalint.hostcode.terminal import terminal_copy
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call, FileModel

_WAITS = ("cudaStreamSynchronize", "cuStreamSynchronize")
_MARK = regex(r"\bcudalint:\s*terminal\b")


class TerminalResults:
    """Found once; `pairs` holds each copy with its wait, by path and place."""

    def __init__(self, project: Project) -> None:
        self._models = project.models
        self.pairs: list[tuple[Call, Call]] = []
        for wait in project.hot_path.api_calls(_WAITS):
            if not wait.via_macro:
                copy = terminal_copy(wait, project.models[wait.span.path])
                if copy is not None:
                    self.pairs.append((copy, wait))
        self._spans = {call.name_span for pair in self.pairs for call in pair}

    def holds(self, call: Call) -> bool:
        """Whether `call` is the copy or the wait of a terminal result."""
        return not call.via_macro and call.name_span in self._spans

    def is_marked(self, copy: Call, wait: Call) -> bool:
        """Whether a comment says `cudalint: terminal`.

        Before the function, between the two calls, or on the lines of one of
        them or just above.
        """
        model = self._models[copy.span.path]
        root = enclosing(model, copy.function)
        if _MARK.search(model.functions[root].comment):
            return True
        marks = [c.span for c in model.comments if "terminal" in c.text and _MARK.search(c.text)]
        return any(_belongs(mark, copy, wait, model) for mark in marks)


def _belongs(mark: Span, copy: Call, wait: Call, model: FileModel) -> bool:
    """Whether nothing but the two calls lies between the mark and them."""
    if copy.statement.start <= mark.start < wait.statement.end:
        return True
    others = [
        call.statement.start
        for call in model.calls
        if not call.via_macro and call.statement not in (copy.statement, wait.statement)
    ]
    body = model.functions[enclosing(model, copy.function)].body
    if body is None or not body.start <= mark.start < body.end:
        return False
    low, high = sorted((mark.start, copy.statement.start))
    if mark.start > wait.statement.end:
        low, high = wait.statement.end, mark.start
    return not any(low < start < high for start in others)
