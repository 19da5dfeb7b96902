"""The tool component: cudalint and the rules of the run, as code review shows them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import sarif_om as om

import cudalint
from cudalint.finding import Level
from cudalint.rule import Rule
from cudalint.run import RuleInForce

HOME = "https://github.com/cudalint/cudalint"
RULES_PAGE = f"{HOME}/blob/main/docs/rules.md"
LONGEST = 1000
"""The most characters of a description; code review cuts at 1,024."""

_FAMILIES = {
    "CU0": "tool",
    "CU1": "source-file",
    "CU2": "device-code",
    "CU3": "launch-path",
    "CU4": "kernel-tree",
    "CU5": "compiled-resources",
}


def driver(rules: Sequence[RuleInForce], notifications: Sequence[Any]) -> Any:
    """The driver with a descriptor for each rule, in order, and those of the notifications."""
    return om.ToolComponent(
        name="cudalint",
        version=cudalint.__version__,
        semantic_version=cudalint.__version__,
        information_uri=HOME,
        rules=[_descriptor(entry.rule, entry.level) for entry in rules],
        notifications=list(notifications),
        contents=None,
        language=None,
    )


def _descriptor(rule: type[Rule], level: Level) -> Any:
    """A rule's descriptor. Its default level is the one in force, for mergers drop equal ones."""
    summary, sections = documentation(rule)
    full = f"{summary} {sections.get('What it does', '')}".strip()
    parts = [f"{heading}: {text}" for heading, text in sections.items()]
    marked = [f"## {heading}\n\n{text}" for heading, text in sections.items()]
    return om.ReportingDescriptor(
        id=rule.code,
        name=pascal_case(rule.name),
        short_description=om.MultiformatMessageString(text=_shortened(_one_line(summary))),
        full_description=om.MultiformatMessageString(text=_shortened(_one_line(full))),
        help=om.MultiformatMessageString(
            text="\n\n".join((summary, *parts)), markdown="\n\n".join((summary, *marked))
        ),
        help_uri=f"{RULES_PAGE}#{rule.code.lower()}-{rule.name}",
        message_strings={
            key: om.MultiformatMessageString(text=text) for key, text in rule.messages.items()
        },
        default_configuration=om.ReportingConfiguration(level=level.value),
        properties={
            "tags": ["cuda", *filter(None, [_FAMILIES.get(rule.code[:3])])],
            "precision": "medium" if rule.preview else "high",
            "problem.severity": "recommendation" if level is Level.NOTE else level.value,
        },
    )


def documentation(rule: type[Rule]) -> tuple[str, dict[str, str]]:
    """A rule's docstring: its summary, and its sections by heading."""
    text = inspect.getdoc(rule) or rule.name
    summary, _, rest = text.partition("\n\n")
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in rest.splitlines():
        if line and not line[0].isspace():
            heading = line.strip()
            sections[heading] = []
        elif heading:
            sections[heading].append(line)
    return summary, {
        name: inspect.cleandoc("\n".join(["", *lines])) for name, lines in sections.items()
    }


def pascal_case(name: str) -> str:
    """A kebab-case name as SARIF wants it: `spdx-header` is `SpdxHeader`."""
    return "".join(word.capitalize() for word in name.split("-"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str) -> str:
    """`text`, cut after a sentence so that no consumer cuts it elsewhere."""
    if len(text) <= LONGEST:
        return text
    sentences = re.split(r"(?<=\.)\s+", text)
    kept = sentences[0][:LONGEST]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > LONGEST:
            break
        kept += f" {sentence}"
    return kept
