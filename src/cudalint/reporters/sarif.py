"""SARIF 2.1.0, for code review and for other tools.

One run with all rules, columns in UTF-16 code units, paths relative to the
repository, no time stamps and no absolute paths: the same findings give the
same log. The parts are in `cudalint.sarif`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import sarif_om as om

from cudalint.finding import Finding, Level
from cudalint.outcome import order
from cudalint.run import Run, Suppressed
from cudalint.sarif.driver import rule_places, tool
from cudalint.sarif.notification import Notifications
from cudalint.sarif.place import BASE, Places
from cudalint.sarif.repository import Repository, find_repository
from cudalint.sarif.result import Results
from cudalint.sarif.serialise import to_json, to_text
from cudalint.sarif.shard import KEY, note_of
from cudalint.shard import Shard

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_SEVERITY = {level: rank for rank, level in enumerate(Level)}


def sarif(
    run: Run, *, suppressed: bool = False, embed: bool = False, category: str | None = None
) -> str:
    """The SARIF log of `run`.

    `suppressed` keeps the silenced findings and those of the baseline, marked as
    such with the reason; without it they are left out, since code review opens
    them as alerts.
    `embed` puts the text of the files that have results in, for viewers that
    can't reach them. `category` tells several runs over one commit apart.
    """
    repository = find_repository(Path(os.path.realpath(run.root)))
    places = Places(run.root, repository, indexed=embed)
    results = Results(rule_places(run.rules), run.sources, run.models, places)
    notifications = Notifications(run)
    made = [
        (finding, silenced, to_text(results.result(finding, silenced, suppressed)))
        for finding, silenced in _distinct(_findings(run, suppressed))
    ]
    made.sort(key=lambda one: _SEVERITY[one[0].level])
    invocation = notifications.invocation(results.location)
    log = om.Run(
        tool=tool(run.rules, notifications.descriptors),
        column_kind="utf16CodeUnits",
        language=None,
        newline_sequences=None,
        original_uri_base_ids={
            BASE: om.ArtifactLocation(
                description=om.Message(text="The folder that all paths are relative to.")
            )
        },
        version_control_provenance=_provenance(repository),
        automation_details=_automation(category, run.shard),
        invocations=[invocation],
        artifacts=places.artifacts(run.sources) if embed else None,
        results=None,
    )
    if run.shard is not None:
        note = note_of(
            run, run.shard, made, results.subject, suppressed=suppressed, category=_id_of(category)
        )
        log.properties = {KEY: msgspec.to_builtins(note)}
    return to_json(
        om.SarifLog(schema_uri=SCHEMA, version="2.1.0", runs=[log]), (text for *_, text in made)
    )


def _findings(run: Run, suppressed: bool) -> list[tuple[Finding, Suppressed | None]]:
    """The findings of the log, in file order."""
    found: list[tuple[Finding, Suppressed | None]] = [(f, None) for f in run.findings]
    if suppressed:
        found += [(silenced.finding, silenced) for silenced in run.suppressed]
        found += [
            (finding, Suppressed(finding, "It is in the baseline.", finding.span, in_source=False))
            for finding in run.baselined
        ]
        found.sort(key=lambda pair: order(pair[0]))
    return found


def _distinct(
    findings: Iterable[tuple[Finding, Suppressed | None]],
) -> Iterator[tuple[Finding, Suppressed | None]]:
    """The first of the findings that say the same of the same place."""
    seen = set()
    for finding, silenced in findings:
        key = (finding.code, finding.span, finding.message)
        if key not in seen:
            seen.add(key)
            yield finding, silenced


def _provenance(repository: Repository | None) -> list[Any]:
    """Where the code comes from; nothing for a repository with no address to name."""
    if repository is None or repository.uri is None:
        return []
    return [
        om.VersionControlDetails(
            repository_uri=repository.uri,
            revision_id=repository.revision,
            branch=repository.branch,
            mapped_to=om.ArtifactLocation(uri_base_id=BASE),
        )
    ]


def _automation(category: str | None, shard: Shard | None) -> Any | None:
    """The run's category; code review takes what stands before the last `/`."""
    id_ = _id_of(category)
    if shard is not None:
        id_ = f"{id_ or 'cudalint/'}shard-{shard.index}-of-{shard.count}/"
    return om.RunAutomationDetails(id=id_) if id_ else None


def _id_of(category: str | None) -> str:
    """A category as the id of a run, "" for none."""
    return category.rstrip("/") + "/" if category else ""
