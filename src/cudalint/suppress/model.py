"""What the comments of a file say about silencing findings, as plain data.

`cudalint.suppress.parse` makes directives out of comments,
`cudalint.suppress.judgement` finds their faults. The rules CU002 and CU003 are
given a `FileSuppressions` and nothing else.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.finding import Edit, Finding, Span

Form = Literal["NOLINT", "NOLINTNEXTLINE", "NOLINTBEGIN", "NOLINTEND", "ignore", "ignore-file"]

FaultKind = Literal["unused", "unknown", "unclosed", "unopened", "late"]


class Item(msgspec.Struct, frozen=True):
    """One name in a directive's list.

    `codes` are the rules that it covers, empty for a name that is none of ours.
    `ours` says whether it has the form of our names (`CU` and digits, a rule's
    name, `cudalint-…`); with no codes it is then a mistake. `*` is not ours, and
    covers every rule.
    """

    span: Span
    text: str
    ours: bool
    codes: frozenset[str]


class Directive(msgspec.Struct, frozen=True):
    """One suppression, as it is written.

    `span` runs from the word to the end of its list, `comment` is the comment
    around it, and `tail` the offset where its reason ends (the end of `span`
    when it has none). `items` is None for a bare word, which covers every rule.
    `excluded` are the codes that a `-name` in the list takes out again.
    """

    form: Form
    span: Span
    comment: Span
    tail: int
    text: str
    items: tuple[Item, ...] | None
    excluded: frozenset[str] = frozenset()
    reason: str = ""

    @property
    def names_a_rule(self) -> bool:
        """Whether the list names a rule of cudalint."""
        return any(item.ours and item.codes for item in self.items or ())

    def covers(self, item: int | None, finding: Finding) -> bool:
        """Whether the item (None for a bare word) silences `finding`, which is within reach.

        A wildcard over our names, such as `CU*`, does not silence what is said
        of its own list.
        """
        if item is None or self.items is None:
            return True
        named = self.items[item]
        if named.ours and "*" in named.text and _holds(self.span, finding.span):
            return False
        return finding.code in named.codes and finding.code not in self.excluded


class Fault(msgspec.Struct, frozen=True):
    """A part of a directive that does nothing, and the edits that take it out.

    `arguments` are what the message of this kind needs: the name or directive
    as written, and for "unclosed" and "unopened" its missing other half; for
    "unknown" the nearest name, if one is near.
    """

    kind: FaultKind
    span: Span
    arguments: tuple[str, ...]
    edits: tuple[Edit, ...]


class FileSuppressions(msgspec.Struct, frozen=True):
    """The directives of one file in file order, and what is wrong with them."""

    path: str
    directives: tuple[Directive, ...]
    faults: tuple[Fault, ...] = ()


def _holds(outer: Span, inner: Span) -> bool:
    """Whether `inner` lies inside `outer`."""
    return outer.path == inner.path and outer.start <= inner.start and inner.end <= outer.end
