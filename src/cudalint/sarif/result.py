"""Results: what a finding becomes in a SARIF log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attr
import sarif_om as om

from cudalint.finding import Edit, Finding, Fix, Related, Span
from cudalint.rule import fill
from cudalint.run import Suppressed
from cudalint.sarif.driver import RulePlace
from cudalint.sarif.fingerprint import KEY, FileFingerprints, Subject
from cudalint.sarif.line_hash import LineHashes
from cudalint.sarif.place import Places
from cudalint.sarif.region import FileRegions
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

Suppression: Any = attr.make_class(
    "Suppression",
    {"status": attr.ib(default=None, metadata={"schema_property_name": "status"})},
    bases=(om.Suppression,),
)
"""sarif-om models a draft, in which `status` was called `state`."""


class Results:
    """Makes the results of one run. Findings of one file must come in file order."""

    def __init__(
        self,
        rules: Mapping[str, RulePlace],
        sources: Mapping[str, SourceFile],
        models: Mapping[str, FileModel],
        places: Places,
    ) -> None:
        self._rules = rules
        self._sources = sources
        self._models = models
        self._places = places
        self._regions: dict[str, FileRegions] = {}
        self._hashes: dict[str, LineHashes] = {}
        self._fingerprints: dict[str, FileFingerprints] = {}

    def result(self, finding: Finding, suppressed: Suppressed | None, marked: bool) -> Any:
        """The result of a finding; `marked` says that this log tells what is suppressed."""
        place = self._rules[finding.code]
        arguments = [without_links(argument) for argument in finding.arguments]
        text = finding.message
        if arguments != list(finding.arguments):
            text = fill(place.rule.messages[finding.message_id], arguments)
        properties: dict[str, Any] = {
            **finding.properties,
            "confidence": finding.confidence.value,
        }
        return om.Result(
            rule_id=finding.code,
            rule_index=place.index if place.extension is None else -1,
            rule=None if place.extension is None else _reference(finding.code, place),
            kind=None,
            level=finding.level.value,
            message=om.Message(text=text, id=finding.message_id, arguments=arguments),
            locations=[om.Location(physical_location=self._physical(finding.span, around=True))],
            related_locations=[
                self._labelled(related, number) for number, related in enumerate(finding.related, 1)
            ],
            code_flows=self._code_flows(finding),
            partial_fingerprints=self._partial_fingerprints(finding),
            fixes=[] if finding.fix is None else [self._fix(finding.fix)],
            suppressions=self._suppressions(suppressed) if marked else None,
            properties=properties,
        )

    def location(self, span: Span) -> Any:
        """A location of something that is no finding."""
        return om.Location(physical_location=self._physical(span))

    def _labelled(self, related: Related, number: int | None = None) -> Any:
        """The location of a further place, with what it is."""
        return om.Location(
            id=-1 if number is None else number,
            physical_location=self._physical(related.span),
            message=om.Message(text=without_links(related.label)),
        )

    def _code_flows(self, finding: Finding) -> list[Any]:
        """The way to the fault, as the one thread of the one flow."""
        if not finding.flow:
            return []
        steps = [om.ThreadFlowLocation(location=self._labelled(step)) for step in finding.flow]
        return [om.CodeFlow(thread_flows=[om.ThreadFlow(locations=steps)])]

    def _physical(self, span: Span, *, around: bool = False) -> Any:
        regions = self._regions_of(span.path)
        return om.PhysicalLocation(
            artifact_location=self._places.location(span.path),
            region=regions.of(span),
            context_region=regions.around(span) if around else None,
        )

    def _regions_of(self, path: str) -> FileRegions:
        if path not in self._regions:
            self._regions[path] = FileRegions(self._data(path))
        return self._regions[path]

    def _data(self, path: str) -> bytes:
        source = self._sources.get(path)
        return b"" if source is None else source.data

    def subject(self, finding: Finding) -> Subject:
        """What the fingerprint of a finding says that it is about."""
        return self._fingerprints_of(finding.span.path).subject(finding)

    def _partial_fingerprints(self, finding: Finding) -> dict[str, str]:
        path = finding.span.path
        if path not in self._hashes:
            self._hashes[path] = LineHashes(self._data(path))
        line = self._regions_of(path).index.line_of(finding.span.start)
        found = {
            "primaryLocationLineHash": self._hashes[path].of_line(line),
            KEY: self._fingerprints_of(path).of(finding),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _fingerprints_of(self, path: str) -> FileFingerprints:
        if path not in self._fingerprints:
            self._fingerprints[path] = FileFingerprints(
                self._places.relative(path) or path,
                self._data(path),
                self._regions_of(path).index,
                self._models.get(path),
            )
        return self._fingerprints[path]

    def _fix(self, fix: Fix) -> Any:
        by_path: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            by_path.setdefault(edit.span.path, []).append(edit)
        title = fix.title if fix.safe else f"{fix.title} (unsafe: look at what it changes)"
        return om.Fix(
            description=om.Message(text=without_links(title)),
            artifact_changes=[
                om.ArtifactChange(
                    artifact_location=self._places.location(path),
                    replacements=[
                        om.Replacement(
                            deleted_region=self._regions_of(path).deleted(edit.span),
                            inserted_content=om.ArtifactContent(text=edit.text),
                        )
                        for edit in edits
                    ],
                )
                for path, edits in by_path.items()
            ],
        )

    def _suppressions(self, suppressed: Suppressed | None) -> list[Any]:
        if suppressed is None:
            return []
        return [
            Suppression(
                kind="inSource" if suppressed.in_source else "external",
                status="accepted",
                justification=suppressed.reason or None,
                location=self.location(suppressed.span) if suppressed.in_source else None,
            )
        ]


def _reference(code: str, place: RulePlace) -> Any:
    """The descriptor of a rule that is not the driver's."""
    assert place.extension is not None
    number, name = place.extension
    return om.ReportingDescriptorReference(
        id=code,
        index=place.index,
        tool_component=om.ToolComponentReference(index=number, name=name),
    )


def without_links(text: str) -> str:
    """`text` with nothing in it that SARIF takes for a link: `[](int)` becomes `[] (int)`."""
    return re.sub(r"\](?=\()", "] ", text)
