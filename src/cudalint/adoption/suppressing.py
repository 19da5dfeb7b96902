"""Writes a comment for every finding, so that a tree starts clean: in memory, and tried out.

All is told in the offsets of the files as they are: comments are only ever put
in, so a place in the new text has its place in the old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from cudalint.adoption.placing import Placement, Placements, comments_of
from cudalint.finding import Edit, Finding, Level, Span
from cudalint.fixes.edits import apply_edits
from cudalint.fixes.links import leads_out
from cudalint.run import Notification, Run
from cudalint.runner import Request

TRIES = 12
"""How often other places are tried for comments that do not do."""

Lint = Callable[[Request], Run]


class Silenced(msgspec.Struct, frozen=True):
    """What comes of it: the run before, the changed files' old and new contents, and the count."""

    first: Run
    changed: dict[str, tuple[bytes, bytes]]
    silenced: int
    notifications: tuple[Notification, ...] = ()


def bad_reason(text: str) -> str | None:
    """Why `text` can't be the reason of a suppression, None when it can."""
    if not any(char.isalnum() for char in text):
        return "it says nothing"
    if not text.isprintable():
        return "it must be one line of plain text"
    if text.rstrip().endswith(("\\", "??/")):
        return "a comment that ends in a backslash takes in the next line"
    if "NOLINT" in text or "cudalint:" in text or "*/" in text:
        return "it must hold no suppression and no end of a comment itself"
    return None


def silence(request: Request, lint: Lint, reason: str) -> Silenced:
    """Lint what `request` asks for, and put a comment with `reason` to each finding."""
    return _Trial(request, lint, reason.strip()).run()


class _Trial:
    """The findings, each by its number, with the place that is tried and those that are left."""

    def __init__(self, request: Request, lint: Lint, reason: str) -> None:
        self._request = request
        self._lint = lint
        self._reason = reason
        self._first = lint(request)
        self._places: dict[int, Placement] = {}
        self._more: dict[int, Iterator[Placement]] = {}
        self._notifications: list[Notification] = []

    def run(self) -> Silenced:
        self._begin()
        for _ in range(TRIES):
            failed = self._failed()
            if not failed:
                break
            self._go_on(failed)
        else:
            for number in self._failed():
                del self._places[number]
        return self._made()

    def _begin(self) -> None:
        """Find the places of every finding whose file may be changed, and try the first."""
        files: dict[str, Placements | None] = {}
        for number, finding in enumerate(self._first.findings):
            path = finding.span.path
            if path not in files:
                files[path] = self._file(path)
            places = files[path]
            self._more[number] = iter(()) if places is None else places.of(finding)
        self._go_on(self._more)

    def _file(self, path: str) -> Placements | None:
        source = self._first.sources[path]
        outside = leads_out(Path(self._first.root), path)
        if outside is not None:
            message = f"'{path}' gets no comments: it leads to '{outside}', outside the project"
            self._notifications.append(Notification("fix-left-out", Level.WARNING, message))
        if outside is not None or source.problem is not None:
            return None
        return Placements(path, source.data, self._first.models.get(path), self._reason)

    def _go_on(self, numbers: Iterable[int]) -> None:
        """Take the next place of the findings."""
        for number in numbers:
            place = next(self._more[number], None)
            if place is None:
                self._places.pop(number, None)
            else:
                self._places[number] = place

    def _made(self) -> Silenced:
        sources = self._first.sources
        changed = {
            path: (sources[path].data, apply_edits(sources[path].data, made))
            for path, made in self._edits().items()
        }
        findings = enumerate(self._first.findings)
        without = [finding for number, finding in findings if number not in self._places]
        for code in sorted({finding.code for finding in without}):
            paths = sorted({f.span.path for f in without if f.code == code})
            message = f"no comment can silence {code} in {', '.join(paths)}"
            self._notifications.append(Notification("fix-left-out", Level.WARNING, message))
        self._notifications += self._too_wide()
        return Silenced(self._first, changed, len(self._places), tuple(self._notifications))

    def _too_wide(self) -> Iterator[Notification]:
        """Say where a comment on the whole file silences what is on one line of it."""
        wide = set()
        for number, place in self._places.items():
            finding = self._first.findings[number]
            if place.kind == "top" and finding.span.end and not self._is_on_comment(finding):
                wide.add((finding.code, finding.span.path))
        for code, path in sorted(wide):
            message = f"{code} is silenced in all of {path}: its line has no place for a comment"
            yield Notification("silenced-file", Level.NOTE, message)

    def _is_on_comment(self, finding: Finding) -> bool:
        """Whether it is a comment that is wrong: the file's own, as a licence line."""
        path, at = finding.span.path, finding.span.start
        comments = comments_of(path, self._first.sources[path].data)
        return any(comment.start <= at < comment.end for comment in comments)

    def _edits(self) -> dict[str, list[Edit]]:
        """The comments as they stand now, one for each place."""
        codes: dict[tuple[str, Placement], list[str]] = {}
        for number, place in self._places.items():
            finding = self._first.findings[number]
            codes.setdefault((finding.span.path, place), []).append(finding.code)
        together: dict[tuple[str, int], str] = {}
        for (path, place), named in sorted(codes.items()):
            # Comments of two kinds may meet at one byte, and one edit makes both.
            key = (path, place.at)
            together[key] = together.get(key, "") + place.text(named, self._reason)
        edits: dict[str, list[Edit]] = {}
        for (path, at), text in together.items():
            edits.setdefault(path, []).append(Edit(Span(path, at, at), text))
        return edits

    def _failed(self) -> list[int]:
        """The findings whose comment does not silence them, or silences nothing."""
        edits = self._edits()
        if not edits:
            return []
        sources, root = self._first.sources, self._first.root
        held = {
            str(Path(root, path)): apply_edits(sources[path].data, made)
            for path, made in edits.items()
        }
        contents = {**self._request.contents, **held}
        then = self._lint(
            msgspec.structs.replace(self._request, contents=contents, compile="never")
        )
        failed: set[int] = set()
        for finding in then.findings:
            if finding.span.path in edits:
                failed.update(self._to_blame(finding, edits[finding.span.path]))
        return sorted(failed & self._places.keys())

    def _to_blame(self, finding: Finding, edits: Sequence[Edit]) -> Iterator[int]:
        """The findings with a comment that does not do, as `finding` shows in the new text."""
        old, inside = _old_offset(finding.span.start, edits)
        mine = []
        others = []
        for number, first in enumerate(self._first.findings):
            if first.span.path != finding.span.path:
                continue
            others.append(number)
            same = (first.code, first.span.start) == (finding.code, old)
            if (inside and self._stands_at(number, old)) or (same and not inside):
                mine.append(number)
        # What only the comments can have brought may be the fault of any of them.
        yield from mine or others

    def _stands_at(self, number: int, at: int) -> bool:
        """Whether the comment for a finding stands at a byte."""
        return number in self._places and self._places[number].at == at


def _old_offset(offset: int, edits: Iterable[Edit]) -> tuple[int, bool]:
    """Where a byte of the new text was in the old, and whether it is part of a comment put in."""
    shift = 0
    for edit in sorted(edits):
        start = edit.span.start + shift
        size = len(edit.text.encode())
        if offset < start:
            break
        if offset < start + size:
            return edit.span.start, True
        shift += size
    return offset - shift, False
