"""What a plugin's rule yields, held to the form of a finding before anything trusts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cudalint.finding import Confidence, Finding, Fix, Level, Span

if TYPE_CHECKING:
    from cudalint.rule import Rule
    from cudalint.source import SourceFile


def hold_to_form(finding: object, rule: type[Rule], sources: Mapping[str, SourceFile]) -> None:
    """Raise TypeError or ValueError unless `finding` is one of the rule's, in files of the run."""
    if not isinstance(finding, Finding):
        raise TypeError(f"yielded {type(finding).__name__}, not Finding")
    if finding.code != rule.code:
        raise ValueError(f"yielded a finding with the code '{finding.code}'")
    if finding.message_id not in rule.messages:
        raise ValueError(f"yielded a finding with the unknown message id '{finding.message_id}'")
    for what, value, kind in (
        ("message", finding.message, str),
        ("level", finding.level, Level),
        ("confidence", finding.confidence, Confidence),
        ("properties", finding.properties, dict),
        ("fix", finding.fix, (Fix, type(None))),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"yielded a finding whose {what} is a {type(value).__name__}")
    for span in _spans(finding):
        _hold_span(span, sources)


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (related.span for related in (*finding.related, *finding.flow))
    yield from finding.extents
    if finding.fix is not None:
        yield from (edit.span for edit in finding.fix.edits)


def _hold_span(span: Span, sources: Mapping[str, SourceFile]) -> None:
    source = sources.get(span.path)
    if source is None:
        raise ValueError(f"yielded a span in '{span.path}', which is no file of the run")
    if not 0 <= span.start <= span.end <= len(source.data):
        size = len(source.data)
        raise ValueError(
            f"yielded the span {span.start} to {span.end} of '{span.path}', which has {size} bytes"
        )
