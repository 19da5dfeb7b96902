"""Shadows for programs, as JSON. The structs here are the schema; docs/tree.md tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from cudalint.reporters.visible import visible
from cudalint.tree.survey import SurveyedShadow, SurveyedTree


class JsonShadow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`file` of `layer` replaces `replaces`; paths are relative to the project root.

    `target` is the first target in which it does. `reason` is "" where there is
    none; line counts are null where a file was not read; the lines removed are still
    in force where `includes_replaced`. `entry_points_complete`
    is false when an include was not found.
    """

    kind: Literal["source", "header"]
    file: str
    replaces: str
    layer: str
    target: str
    declared: bool
    reason: str
    lines_added: int | None
    lines_removed: int | None
    includes_replaced: bool
    entry_points_gained: list[str]
    entry_points_lost: list[str]
    entry_points_retyped: list[str]
    entry_points_complete: bool


class JsonTree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tree; `targets` are their names."""

    root: str
    targets: list[str]
    shadows: list[JsonShadow]


class JsonTrees(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole document."""

    trees: list[JsonTree]


def json(trees: Sequence[SurveyedTree]) -> str:
    """The trees as one document, indented by two spaces."""
    document = JsonTrees([_tree(tree) for tree in trees])
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _tree(tree: SurveyedTree) -> JsonTree:
    return JsonTree(
        root=visible(tree.tree.root),
        targets=[visible(target.name) for target in tree.tree.targets],
        shadows=[_shadow(shadow) for shadow in tree.shadows],
    )


def _shadow(surveyed: SurveyedShadow) -> JsonShadow:
    shadow = surveyed.shadow
    return JsonShadow(
        kind="source" if shadow.is_source else "header",
        file=visible(shadow.upper),
        replaces=visible(shadow.lower),
        layer=visible(shadow.layer.path),
        target=visible(shadow.target.name),
        declared=shadow.declared,
        reason=visible(surveyed.reason),
        lines_added=surveyed.added,
        lines_removed=surveyed.removed,
        includes_replaced=surveyed.wraps,
        entry_points_gained=[visible(name) for name in surveyed.gained],
        entry_points_lost=[visible(name) for name in surveyed.lost],
        entry_points_retyped=[visible(name) for name in surveyed.retyped],
        entry_points_complete=surveyed.complete,
    )
