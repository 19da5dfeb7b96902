"""The JSON schema of cudalint.toml, for editors that check and complete TOML by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.settings.meaning import MEANING
from cudalint.settings.model import Settings

if TYPE_CHECKING:
    from cudalint.rule import Rule


def schema(rules: Sequence[type[Rule]]) -> dict[str, Any]:
    """A schema (2020-12) of every key, with the options of each of `rules` under its name."""
    document: dict[str, Any] = msgspec.to_builtins(msgspec.json.schema(Settings))
    settings = document["$defs"].pop("Settings")
    document["$defs"].pop("RuleSettings")
    properties = settings["properties"]
    for key, meaning in MEANING.items():
        properties[key]["description"] = f"{meaning[0].upper()}{meaning[1:]}."
    properties["rules"] |= {
        "properties": {key: _rule(rule) for rule in rules for key in (rule.code, rule.name)},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cudalint.toml",
        "type": "object",
        "properties": {key: properties[key] for key in MEANING},
        "additionalProperties": False,
        "$defs": document["$defs"],
    }


def _rule(rule: type[Rule]) -> dict[str, Any]:
    from cudalint.rulepage import page_of

    given: dict[str, Any] = msgspec.to_builtins(msgspec.json.schema(rule.options))
    options = given["$defs"][rule.options.__name__]["properties"]
    level = {"enum": ["error", "warning", "note"], "default": rule.level.value}
    return {
        "description": f"{rule.code} {rule.name}: {page_of(rule).summary}",
        "type": "object",
        "properties": {"level": level, **options},
        "additionalProperties": False,
    }
