"""The suppressions of one file at work: what they silence, and which do nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.finding import Edit, Finding, Span
from cudalint.lines import LineIndex
from cudalint.source import SourceFile
from cudalint.suppress.catalogue import Catalogue
from cudalint.suppress.extents import Extents
from cudalint.suppress.manifest_comments import manifest_comments
from cudalint.suppress.model import Fault, FaultKind, FileSuppressions
from cudalint.suppress.parse import directives
from cudalint.suppress.reach import Key, Reach, measure
from cudalint.suppress.removal import removal

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
        dead = model.dead if model else ()
        living = [c for c in comments if not any(d.start <= c.start < d.end for d in dead)]
        self.directives = tuple(directives(source.path, source.data, living, names))
        if self.directives:
            self._lines = LineIndex(source.data)
            self._extents = Extents(model, source.data)
            self._reaches = measure(self.directives, source.data, comments)
            self._on_line: dict[int, list[Reach]] = {}
            for reach in self._reaches.reaches:
                if reach.line is not None:
                    self._on_line.setdefault(reach.line, []).append(reach)
            self._wide = [reach for reach in self._reaches.reaches if reach.line is None]

    def over(self, finding: Finding) -> Iterator[Reach]:
        """The reaches that hold any part of `finding` and speak of its rule."""
        spans = [s for s in (finding.span, *finding.extents) if s.path == self.path]
        if finding.span.path == self.path:
            spans += self._extents.around(finding.span)
        seen: set[Key] = set()
        for reach in self._near(spans):
            directive = self.directives[reach.key[0]]
            if reach.key not in seen and directive.covers(reach.key[1], finding):
                seen.add(reach.key)
                yield reach

    def _near(self, spans: Sequence[Span]) -> Iterator[Reach]:
        """The reaches that hold a line or byte of `spans`."""
        for span in spans:
            first = self._lines.line_of(span.start)
            last = self._lines.line_of(max(span.start, span.end - 1))
            if last - first < len(self._on_line):
                for line in range(first, last + 1):
                    yield from self._on_line.get(line, ())
            else:
                for line, reaches in self._on_line.items():
                    if first <= line <= last:
                        yield from reaches
        for reach in self._wide:
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
        going = {*kinds, *(ends[key] for key in kinds if key in ends)}
        faults = tuple(
            self._fault(key, kind, [key, *([ends[key]] if key in ends else [])], going, names)
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
        self, key: Key, kind: FaultKind, gone: Sequence[Key], going: set[Key], names: Catalogue
    ) -> Fault:
        """The fault of one item; its fix takes out the items `gone`, where all of `going` shall."""
        directive = self.directives[key[0]]
        edits: list[Edit] = []
        for at, item_at in gone:
            removed = {other for place, other in going if place == at}
            edits.append(removal(self.directives[at], self._data, item_at, removed))
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


def _without_line_end(comment: Span, data: bytes) -> Span:
    """A comment's span without the CR that a `//` comment takes in before its LF."""
    text = data[comment.start : comment.end]
    return Span(comment.path, comment.start, comment.start + len(text.rstrip(b"\r\n")))
