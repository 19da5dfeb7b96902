"""Findings as the protocol's diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from cudalint.finding import Finding, Level, Related
from cudalint.lsp.places import Places
from cudalint.reporters.visible import encodable
from cudalint.rulepage import address
from cudalint.run import Run

SOURCE = "cudalint"

_SEVERITIES = {
    Level.ERROR: types.DiagnosticSeverity.Error,
    Level.WARNING: types.DiagnosticSeverity.Warning,
    Level.NOTE: types.DiagnosticSeverity.Information,
}


def diagnostics(run: Run, places: Places) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each file asked for, by path; an empty list where there are none."""
    pages = {chosen.rule.code: address(chosen.rule) for chosen in run.rules}
    found: dict[str, list[types.Diagnostic]] = {
        path: [] for path, source in run.sources.items() if source.requested
    }
    for finding in run.findings:
        found[finding.span.path].append(_diagnostic(finding, places, pages[finding.code]))
    return found


def _diagnostic(finding: Finding, places: Places, page: str) -> types.Diagnostic:
    return types.Diagnostic(
        range=places.range(finding.span),
        message=encodable(finding.message),
        severity=_SEVERITIES[finding.level],
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        related_information=[_related(place, places) for place in _around(finding)],
    )


def _around(finding: Finding) -> Iterator[Related]:
    """The related places, then the way that leads to the fault."""
    yield from finding.related
    yield from (place for place in finding.flow if place not in finding.related)


def _related(place: Related, places: Places) -> types.DiagnosticRelatedInformation:
    location = types.Location(places.uri(place.span.path), places.range(place.span))
    return types.DiagnosticRelatedInformation(location, encodable(place.label))
