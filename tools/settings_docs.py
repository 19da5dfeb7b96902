"""Writes docs/settings-reference.md: every key, from the schema. `--check` only compares.

python tools/settings_docs.py [--check]

The schema is what `cudalint config --schema` prints; the text here adds nothing to it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudalint.registry import all_rules
from cudalint.rulepage import anchor
from cudalint.settings.schema import schema

FILE = Path(__file__).parents[1] / "docs" / "settings-reference.md"
INTRODUCTION = """\
# Every setting

Written by `make docs` from the schema that `cudalint config --schema` prints. What the keys are \
for, and how the file is found, is in [settings.md](settings.md); `cudalint config KEY` explains \
one key.
"""
RULES = """\
## rules

A table for a rule, by its code or name: `[rules.CU501]` or `[rules.register-spill]`. Every rule \
has `level`, one of `"error"`, `"warning"`, `"note"`, in place of its own. These have more:
"""
KEYS = "| key | type | default |\n|---|---|---|"
OPTIONS = "| rule | option | type | default |\n|---|---|---|---|"


def text() -> str:
    """The whole document."""
    document = schema(all_rules())
    keys = document["properties"]
    rules = keys.pop("rules")["properties"]
    parts = [INTRODUCTION, *(part for key in keys for part in _key(key, keys[key], document))]
    parts += [RULES, *_options(rules)]
    return "\n".join(parts)


def _key(key: str, of: dict[str, Any], document: dict[str, Any]) -> Iterator[str]:
    """The section of one key; a table's own keys are listed below it."""
    yield f"## {key}\n"
    yield f"{of['description']}\n"
    yield f"- Type: {_type(of, document)}"
    yield f"- Default: {_value(of['default'])}\n"
    rows = of.get("additionalProperties", {}).get("$ref")
    if rows:
        yield KEYS
        for name, row in _referred(rows, document)["properties"].items():
            yield f"| `{name}` | {_type(row, document)} | {_value(row['default'])} |"
        yield ""


def _options(rules: dict[str, Any]) -> Iterator[str]:
    """The rules' own options, in one table."""
    yield OPTIONS
    for rule in all_rules():
        options = {k: v for k, v in rules[rule.code]["properties"].items() if k != "level"}
        for name, option in options.items():
            page = f"[{rule.code}](rules.md#{anchor(rule)})"
            yield f"| {page} | `{name}` | {_type(option, {})} | {_value(option['default'])} |"
    yield ""


def _type(of: dict[str, Any], document: dict[str, Any]) -> str:
    """A schema in words."""
    if "enum" in of:
        return "one of " + ", ".join(f"`{json.dumps(word)}`" for word in of["enum"])
    if "anyOf" in of:
        return " or ".join(_type(one, document) for one in of["anyOf"] if one.get("type") != "null")
    if "$ref" in of:
        return "a table"
    if of["type"] == "array":
        return f"a list of {_plural(of['items'])}"
    if of["type"] == "object":
        return f"a table, of which each key holds {_type(of['additionalProperties'], document)}"
    word = {"string": "a string", "boolean": "`true` or `false`"}
    return word.get(of["type"]) or _number(of)


def _plural(items: dict[str, Any]) -> str:
    fits = f" that fit `{items['pattern']}`" if "pattern" in items else ""
    return {"string": "strings"}[items["type"]] + fits


def _number(of: dict[str, Any]) -> str:
    bounds = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
    said = [f"{word} {of[key]:,.10g}" for key, word in bounds.items() if key in of]
    kind = {"integer": "a whole number", "number": "a number"}[of["type"]]
    return ", ".join([kind, *said])


def _value(value: Any) -> str:
    """A default as TOML spells it, which is as JSON does."""
    return "none" if value is None else "empty" if value == {} else f"`{json.dumps(value)}`"


def _referred(reference: str, document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["$defs"][reference.removeprefix("#/$defs/")]
    return found


def main() -> int:
    """Write or compare. Returns the exit code."""
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text(), encoding="utf-8")
        return 0
    fresh = FILE.is_file() and FILE.read_text(encoding="utf-8") == text()
    if not fresh:
        print(f"docs/{FILE.name} is not what the schema says: run `make docs`", file=sys.stderr)
    return int(not fresh)


if __name__ == "__main__":
    raise SystemExit(main())
