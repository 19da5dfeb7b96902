"""What a rule reports: spans, related spans, fixes, levels.

Everything here is immutable plain data in byte offsets. Lines and columns are
made by `cudalint.lines`, and only when something is shown. Suppression, order
and exit codes live in `cudalint.outcome`.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class Level(str, Enum):
    """How much a finding matters: `error` and `warning` fail the run, `note` does not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Confidence(str, Enum):
    """How sure a rule is that what it reports is real."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Span(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """The half-open byte range `[start, end)` of the file at `path`.

    `path` is POSIX and relative to the project root; offsets count the bytes
    on disk, a byte order mark included. `Span(path, 0, 0)` is the whole file,
    and is shown on line 1.
    """

    path: str
    start: int
    end: int

    def covers(self, offset: int) -> bool:
        """Whether the byte at `offset` lies inside."""
        return self.start <= offset < self.end


class Related(msgspec.Struct, frozen=True, order=True):
    """A second place that explains a finding, with a short word on what it is."""

    span: Span
    label: str


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replaces the bytes of `span` by `text` (UTF-8); an empty span inserts."""

    span: Span
    text: str


class Fix(msgspec.Struct, frozen=True):
    """Edits that mend a finding. `safe` fixes never change what the program does."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Finding(msgspec.Struct, frozen=True):
    """One fault at one place.

    `message` stands alone; `message_id` and `arguments` are the rule's template
    and what filled it. `extents` are further spans (statement, declaration head,
    uses of the macro that holds the fault) on whose lines a suppression counts.
    `flow` is the way that a program takes to the fault, in order, for rules that
    reason about one (a call chain).
    `properties` carries numbers for machines. `level` is the one in force.
    `compiled_from` is the source file whose compile showed the fault, "" for
    one that no compile did.
    """

    code: str
    level: Level
    message: str
    span: Span
    message_id: str
    arguments: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    confidence: Confidence = Confidence.HIGH
    fix: Fix | None = None
    extents: tuple[Span, ...] = ()
    properties: dict[str, int | float | str] = {}
    flow: tuple[Related, ...] = ()
    compiled_from: str = ""
