"""The tool: cudalint with the rules of the run, and its plugins with theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import sarif_om as om

import cudalint
from cudalint.finding import Level
from cudalint.rule import Rule
from cudalint.rulepage import HOME, address, markdown, page_of
from cudalint.run import RuleInForce

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


class RulePlace(msgspec.Struct, frozen=True):
    """Where a rule's descriptor stands: its index in the driver, or in an extension.

    `extension` is the index and name of that one, None for the driver.
    """

    rule: type[Rule]
    index: int
    extension: tuple[int, str] | None = None


def tool(rules: Sequence[RuleInForce], notifications: Sequence[Any]) -> Any:
    """The tool with a descriptor for each rule of the run, in order, and for notifications."""
    own = [entry for entry in rules if entry.plugin is None]
    return om.Tool(
        driver=driver(own, notifications),
        extensions=[
            om.ToolComponent(
                name=name,
                version=version,
                rules=[_descriptor(entry.rule, entry.level) for entry in entries],
                contents=None,
                language=None,
            )
            for (name, version), entries in _by_package(rules).items()
        ],
    )


def rule_places(rules: Sequence[RuleInForce]) -> dict[str, RulePlace]:
    """Where in the `tool` of these rules the descriptor of each stands, by its code."""
    own = (entry.rule for entry in rules if entry.plugin is None)
    found = {rule.code: RulePlace(rule, at) for at, rule in enumerate(own)}
    for number, ((name, _), entries) in enumerate(_by_package(rules).items()):
        for at, entry in enumerate(entries):
            found[entry.rule.code] = RulePlace(entry.rule, at, (number, name))
    return found


def _by_package(rules: Sequence[RuleInForce]) -> dict[tuple[str, str], list[RuleInForce]]:
    """The rules of plugins by the name and version of their package, in the order of the names."""
    found: dict[tuple[str, str], list[RuleInForce]] = {}
    for entry in rules:
        if entry.plugin is not None:
            found.setdefault((entry.plugin.package, entry.plugin.version), []).append(entry)
    return dict(sorted(found.items()))


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
    page = page_of(rule)
    full = f"{page.summary} {page.sections.get('What it does', '')}"
    parts = [f"{heading}: {text}" for heading, text in page.sections.items()]
    return om.ReportingDescriptor(
        id=rule.code,
        name=pascal_case(rule.name),
        short_description=om.MultiformatMessageString(text=_shortened(page.summary)),
        full_description=om.MultiformatMessageString(text=_shortened(full)),
        help=om.MultiformatMessageString(
            text="\n\n".join((page.summary, *parts)),
            markdown=markdown(rule, depth=2) if page.sections else None,
        ),
        help_uri=address(rule) or None,
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


def pascal_case(name: str) -> str:
    """A kebab-case name as SARIF wants it: `spdx-header` is `SpdxHeader`."""
    return "".join(word.capitalize() for word in name.split("-"))


def _shortened(text: str) -> str:
    """`text` on one line, cut after a sentence so that no consumer cuts it elsewhere."""
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text
    sentences = re.split(r"(?<=\.)\s+", text)
    kept = sentences[0][:LONGEST]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > LONGEST:
            break
        kept += f" {sentence}"
    return kept
