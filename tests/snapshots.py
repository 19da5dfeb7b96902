"""What each rule says of its own examples, in full, and what it promises: one file a rule.

Examples are held to the places of their findings and to the first message. All else
that reaches users (related places, levels, confidence, fixes, numbers, the texts and
ids of messages, options and their defaults) is written to tests/fixtures/snapshots,
to be looked at when it changes. `python tests/snapshots.py` writes the files anew.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cudalint.finding import Edit, Finding, Span
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, Example, Rule
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.testing.annotated import read_annotated

FOLDER = Path(__file__).parent / "fixtures" / "snapshots"


def snapshot(rule: type[Rule], folder: Path) -> str:
    """The file of one rule; its examples are linted in folders below `folder`."""
    lines = list(_promises(rule))
    if not issubclass(rule, CompileRule):
        for number, example in enumerate(rule.INVALID):
            lines += ["", f"example {number}"]
            for finding in _findings(rule, example, folder / str(number)):
                lines += _lines(finding)
    return "\n".join(lines) + "\n"


def _promises(rule: type[Rule]) -> Iterator[str]:
    yield f"{rule.code} {rule.name}: {rule.level.value}, fix {rule.fix.value}, since {rule.since}"
    yield f"by default {rule.default}, in preview {rule.preview}"
    for key, template in rule.messages.items():
        yield f"message {key}: {template}"
    config = rule.options.__struct_config__
    yield f"options frozen {config.frozen}, others forbidden {config.forbid_unknown_fields}"
    properties = msgspec.json.schema(rule.options)["$defs"][rule.options.__name__]["properties"]
    for option, schema in properties.items():
        yield f"option {option}: {json.dumps(schema, sort_keys=True)}"


def _findings(rule: type[Rule], example: Example, root: Path) -> list[Finding]:
    for path, text in (*example.files.items(), (example.path, example.code)):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(read_annotated(path, text)[0])
    (root / "cudalint.toml").write_text(example.settings, "utf-8")
    overrides = Overrides(None, (), (rule.code,))
    finished = run(Request((".",), root, overrides=overrides, compile="never"))
    return [finding for finding in finished.findings if finding.code == rule.code]


def _lines(finding: Finding) -> Iterator[str]:
    level, confidence = finding.level.value, finding.confidence.value
    yield f"{_place(finding.span)}: {level} {finding.message_id}, {confidence} confidence"
    yield f"  {finding.message}"
    yield from (f"  related {_place(one.span)}: {one.label}" for one in finding.related)
    yield from (f"  flow {_place(one.span)}: {one.label}" for one in finding.flow)
    yield from (f"  extent {_place(span)}" for span in finding.extents)
    if finding.properties:
        yield f"  properties {json.dumps(finding.properties, sort_keys=True)}"
    if finding.fix:
        yield f"  {'safe' if finding.fix.safe else 'unsafe'} fix: {finding.fix.title}"
        yield from (f"    {_edit(edit)}" for edit in finding.fix.edits)


def _place(span: Span) -> str:
    return f"{span.path} {span.start}-{span.end}"


def _edit(edit: Edit) -> str:
    return f"{_place(edit.span)} -> {json.dumps(edit.text)}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in all_rules():
        with tempfile.TemporaryDirectory() as made:
            (FOLDER / f"{one.code}.txt").write_text(snapshot(one, Path(made)), "utf-8")
