"""The suppressions of one file at work: what they silence, and which do nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.finding import Finding, Span
from cudalint.lines import LineIndex
from cudalint.source import SourceFile
from cudalint.suppress.catalogue import Catalogue
from cudalint.suppress.extents import Extents
from cudalint.suppress.manifest_comments import manifest_comments
from cudalint.suppress.model import Fault, FaultKind, FileSuppressions
from cudalint.suppress.parse import directives
from cudalint.suppress.reach import Key, Reach, measure
from cudalint.suppress.removal import first_kept, removal

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

Ran = Callable[[str, str], bool]
"""Whether the rule with that code ran on the file at that path."""


class FileSuppressor:
    """One file with its directives; `directives` is empty when it has none.

    `model` gives the comments of a source file. Those of a manifest are read
    from its bytes. Comments in an `#if 0` branch count for nothing.
    """

    def __init__(self, source: SourceFile, model: FileModel | None, names: Catalogue) -> None:
        self.path = source.path
        self._data = source.data
        if source.path.endswith(".toml"):
            comments = list(manifest_comments(source.path, source.data))
        else:
            spans = [comment.span for comment in model.comments] if model else []
            comments = [_without_line_end(span, source.data) for span in spans]
        living = _living(comments, model.dead if model else ())
        self.directives = tuple(directives(source.path, source.data, living, names))
        if self.directives:
            self._lines = LineIndex(source.data)
            self._extents = Extents(model, source.data)
            self._reaches = measure(self.directives, source.data, comments)
            # By the code they may silence (None: any), so that thousands of one
            # rule cost nothing to the findings of another.
            self._on_line: dict[str | None, dict[int, list[Reach]]] = {}
            self._wide: dict[str | None, list[Reach]] = {}
            for reach in self._reaches.reaches:
                for code in self._codes(reach.key):
                    if reach.line is None:
                        self._wide.setdefault(code, []).append(reach)
                    else:
                        lines = self._on_line.setdefault(code, {})
                        lines.setdefault(reach.line, []).append(reach)

    def _codes(self, key: Key) -> Collection[str | None]:
        """The codes that an item may silence; None stands for all."""
        items = self.directives[key[0]].items
        return (None,) if items is None or key[1] is None else items[key[1]].codes

    def over(self, finding: Finding) -> Iterator[Reach]:
        """The reaches that hold any part of `finding` and speak of its rule."""
        spans = [s for s in (finding.span, *finding.extents) if s.path == self.path]
        if finding.span.path == self.path:
            spans += self._extents.around(finding.span)
        seen: set[Key] = set()
        for reach in self._near(spans, finding.code):
            directive = self.directives[reach.key[0]]
            if reach.key not in seen and directive.covers(reach.key[1], finding):
                seen.add(reach.key)
                yield reach

    def _near(self, spans: Sequence[Span], code: str) -> Iterator[Reach]:
        """The reaches that hold a line or byte of `spans` and may silence `code`."""
        for by_line in (self._on_line.get(code, {}), self._on_line.get(None, {})):
            for span in spans:
                first = self._lines.line_of(span.start)
                last = self._lines.line_of(max(span.start, span.end - 1))
                if last - first < len(by_line):
                    for line in range(first, last + 1):
                        yield from by_line.get(line, ())
                else:
                    for line, reaches in by_line.items():
                        if first <= line <= last:
                            yield from reaches
        for reach in (*self._wide.get(code, ()), *self._wide.get(None, ())):
            if reach.block is None or any(_meets(span, reach.block) for span in spans):
                yield reach

    def judged(
        self, used: set[tuple[str, Key]], ran: Ran, own: frozenset[str], names: Catalogue
    ) -> FileSuppressions:
        """This file's directives with their faults, `used` being what silenced something.

        Names of the suppression rules themselves (`own`) are never called
        unused: whether they silence something depends on that very answer.
        """
        kinds: dict[Key, FaultKind] = {}
        for at, directive in enumerate(self.directives):
            for item in (None,) if directive.items is None else range(len(directive.items)):
                key = (at, item)
                kind = self._kind(key, own, ran, (self.path, key) in used)
                if kind is not None:
                    kinds[key] = kind
        ends = {begin: end for end, begin in self._reaches.partners.items()}
        going: dict[int, set[int | None]] = {}
        for at, item in (*kinds, *(ends[key] for key in kinds if key in ends)):
            going.setdefault(at, set()).add(item)
        kept = {at: first_kept(self.directives[at], items) for at, items in going.items()}
        faults = tuple(
            self._fault(key, kind, [key, *([ends[key]] if key in ends else [])], kept, names)
            for key, kind in kinds.items()
        )
        return FileSuppressions(self.path, self.directives, faults)

    def _kind(self, key: Key, own: frozenset[str], ran: Ran, used: bool) -> FaultKind | None:
        """What is wrong with one item, if anything is."""
        directive = self.directives[key[0]]
        idle = self._reaches.idle.get(key)
        if directive.items is None or key[1] is None:
            return idle
        item = directive.items[key[1]]
        if not item.ours or key in self._reaches.partners:
            return None
        if not item.codes:
            return "unknown"
        if idle is not None:
            return idle
        codes = item.codes - own
        judgeable = bool(codes) and all(ran(code, self.path) for code in codes)
        return "unused" if judgeable and not used else None

    def _fault(
        self,
        key: Key,
        kind: FaultKind,
        gone: Sequence[Key],
        kept: dict[int, int | None],
        names: Catalogue,
    ) -> Fault:
        """The fault of one item; its fix takes out the items `gone`.

        `kept` has the first item that stays of each directive.
        """
        directive = self.directives[key[0]]
        edits = (removal(self.directives[at], self._data, item, kept[at]) for at, item in gone)
        item = None if key[1] is None or directive.items is None else directive.items[key[1]]
        text = directive.text if item is None else item.text
        arguments: tuple[str, ...] = (text,)
        if kind in ("unclosed", "unopened"):
            half = directive.form + ("" if item is None else f"({text})")
            begin, end = "NOLINTBEGIN", "NOLINTEND"
            other = half.replace(end, begin) if kind == "unopened" else half.replace(begin, end)
            arguments = (half, other)
        elif kind == "unknown" and (near := names.nearest(text)) is not None:
            arguments = (text, near)
        span = directive.span if item is None else item.span
        return Fault(kind, span, arguments, tuple(edits))


def _meets(span: Span, block: tuple[int, int]) -> bool:
    """Whether a span, perhaps empty, has a byte of the block."""
    return span.start < block[1] and block[0] < max(span.end, span.start + 1)


def _living(comments: Iterable[Span], dead: Iterable[Span]) -> Iterator[Span]:
    """The comments that do not start in one of the `dead` spans; both lie in file order."""
    ends = 0
    left = iter(sorted(dead, key=lambda span: span.start))
    following = next(left, None)
    for comment in comments:
        while following is not None and following.start <= comment.start:
            ends = max(ends, following.end)
            following = next(left, None)
        if comment.start >= ends:
            yield comment


def _without_line_end(comment: Span, data: bytes) -> Span:
    """A comment's span without the CR that a `//` comment takes in before its LF."""
    text = data[comment.start : comment.end]
    return Span(comment.path, comment.start, comment.start + len(text.rstrip(b"\r\n")))
