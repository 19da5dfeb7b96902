"""How a shadow's entry points differ from those of the file that it replaces."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel
from cudalint.tree.entries import Entry, entry_points
from cudalint.tree.shadows import Shadow


class Drift(msgspec.Struct, frozen=True):
    """What the host would miss.

    `lower` are the names of the replaced file's entry points, `missing` those
    that the shadow lacks and may not drop, `dropped` those that it lacks and may.
    `changed` pairs the shadow's entry with the replaced one of other types.
    `complete` is false when an include of the shadow was not found: what is
    missing may be there.
    """

    lower: frozenset[str]
    missing: tuple[str, ...]
    dropped: tuple[str, ...]
    changed: tuple[tuple[Entry, Entry], ...]
    complete: bool

    @property
    def speaks(self) -> bool:
        """Whether there is a fault in it."""
        return bool(self.changed or (self.missing and self.complete))


def drift(
    shadow: Shadow, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> Drift | None:
    """Compare the two files of `shadow`; None when one of them was not analysed."""
    if shadow.upper not in models or shadow.lower not in models:
        return None
    upper = entry_points(shadow.upper, shadow.target, models, sources)
    lower = entry_points(shadow.lower, shadow.target, models, sources)
    lacking = upper.lacking(lower)
    exempt = exemptions(shadow)
    changed = [(upper.by_name[name][0], lower.by_name[name][0]) for name in upper.retyped(lower)]
    return Drift(
        lower=frozenset(lower.by_name),
        missing=tuple(name for name in lacking if name not in exempt),
        dropped=tuple(name for name in lacking if name in exempt),
        changed=tuple(changed),
        complete=upper.complete,
    )


def exemptions(shadow: Shadow) -> frozenset[str]:
    """The entry points that the shadow's layer says it may drop."""
    manifest = shadow.layer.manifest
    module = shadow.target.modules.get(shadow.key) if shadow.is_source else None
    row = manifest.shadow_exempt.get(module) if manifest is not None and module else None
    return frozenset(name.value for name in row.value) if row is not None else frozenset()
