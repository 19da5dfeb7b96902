"""GitHub's workflow commands: each finding is an annotation on its line.

The escaping is that of the runner's own toolkit. GitHub shows ten errors and
ten warnings of a step, and the rest in its log only.
"""

from __future__ import annotations

from cudalint.finding import Finding, Level
from cudalint.reporters.reported import Reported
from cudalint.reporters.summary import analysed, found
from cudalint.reporters.visible import visible
from cudalint.run import Run

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def github(run: Run) -> str:
    """A command for each finding and for what made the run fail, then the counts as plain text."""
    reported = Reported(run)
    lines = [_annotation(finding, reported) for finding in run.findings]
    lines += [
        _command("error", {"title": f"cudalint {problem.id}"}, visible(problem.message))
        for problem in reported.problems
    ]
    # The runner looks for commands of its older form anywhere in a line.
    lines += [visible(line).replace("##[", "## [") for line in (found(run), analysed(run)) if line]
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, reported: Reported) -> str:
    place = reported.range(finding.span)
    properties = {
        "file": reported.path(finding.span.path),
        "line": str(place.start.line),
        "endLine": str(place.end.line),
    }
    if place.start.line == place.end.line:
        properties |= {"col": str(place.start.column), "endColumn": str(place.end.column)}
    properties["title"] = f"{finding.code} {reported.rule_name(finding.code)}"
    return _command(_COMMANDS[finding.level], properties, visible(finding.message))


def _command(name: str, properties: dict[str, str], message: str) -> str:
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
