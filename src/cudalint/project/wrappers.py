"""Finds the `extern "C"` functions that use a template kernel.

Names in the text of function bodies decide, comments aside. Which kernels need
a wrapper is the business of rule CU104.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.finding import Span
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.project.project import Project
    from cudalint.syntax.model import Function

_WORD = regex(r"[A-Za-z_]\w*")


class Wrappers:
    """Answers for the kernels of one run; bodies are read at the first question."""

    def __init__(self, project: Project, context: Context) -> None:
        self._project = project
        self._context = context
        self._words: dict[str, frozenset[str]] = {}
        self._reached: dict[str, list[Span]] | None = None

    def use(self, kernel: Function) -> bool:
        """Whether an entry point with C linkage uses `kernel`, directly or through its callees.

        Entry points of the kernel's own file and of the files that include it count.
        """
        path = kernel.span.path
        files = (path, *self._project.includes.includers(path))
        return any(kernel.name in self._entry_words(file) for file in files)

    def _entry_words(self, path: str) -> frozenset[str]:
        """The words in the functions with C linkage, and in what those call, in one file."""
        if path not in self._words:
            functions = [f for f in self._project.models[path].functions if f.linkage == "C"]
            spans = [f.body for f in functions if f.body is not None]
            if any(f.space == "host" for f in functions):
                spans += self._callee_bodies().get(path, ())
            found: set[str] = set()
            for span in dict.fromkeys(spans):
                found.update(_WORD.findall(self._code(span)))
            self._words[path] = frozenset(found)
        return self._words[path]

    def _callee_bodies(self) -> dict[str, list[Span]]:
        """By file, the bodies of what host functions with C linkage call."""
        if self._reached is None:
            graph = self._project.graph
            pending = [node.id for node in graph.nodes if node.function.linkage == "C"]
            seen = set(pending)
            while pending:
                for edge in graph.calls[pending.pop()]:
                    if edge.callee not in seen:
                        seen.add(edge.callee)
                        pending.append(edge.callee)
            self._reached = {}
            for place in sorted(seen):
                body = graph.nodes[place].function.body
                if body is not None:
                    self._reached.setdefault(body.path, []).append(body)
        return self._reached

    def _code(self, body: Span) -> str:
        """The text of a body without its comments."""
        comments = [
            comment.span
            for comment in self._project.models[body.path].comments
            if body.start <= comment.span.start < body.end
        ]
        pieces, at = [], body.start
        for span in comments:
            pieces.append(self._context.text(Span(body.path, at, span.start)))
            at = span.end
        pieces.append(self._context.text(Span(body.path, at, body.end)))
        return " ".join(pieces)
