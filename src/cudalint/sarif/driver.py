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
from cudalint.rulepage import HOME, Page, address, markdown, read_page
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
    page = _page(rule)
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


def _page(rule: type[Rule]) -> Page:
    """A rule's page; of a plugin's rule whose docstring has no such form, its summary."""
    try:
        return read_page(rule)
    except ValueError:
        summary, _, _ = (inspect.getdoc(rule) or "").partition("\n\n")
        return Page(summary or f"{rule.code} {rule.name}.", {})


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
