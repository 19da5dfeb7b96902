"""`read_model`: from a file's bytes to its FileModel. The stage's only entrance."""

from __future__ import annotations

from cudalint.syntax.assemble import assemble
from cudalint.syntax.effort import limited, spend
from cudalint.syntax.extract import extract
from cudalint.syntax.join import islands, launches_of_macros, merge
from cudalint.syntax.lastread import last_read
from cudalint.syntax.macros import Expander
from cudalint.syntax.model import FileModel
from cudalint.syntax.prepare import (
    find_uses,
    is_attribute_macro,
    is_configuration,
    is_structural,
    prepare,
    texts,
)
from cudalint.syntax.templates import Bodies

_BROKEN_UNITS = 300
"""What a region takes that can't be read, with the finding that it becomes."""


def read_model(path: str, data: bytes) -> FileModel:
    """What the source text `data` says; `path` is what its spans carry.

    Any bytes are accepted; what can't be understood is listed in `broken`. Raises
    TooComplexError for what no file written by hand comes near.
    """
    last = last_read()
    if last:
        last.start(path)
    with limited():
        return _read(path, data)


def _read(path: str, data: bytes) -> FileModel:
    prepared = prepare(data)
    expander = Expander(prepared.definitions)
    bodies = Bodies(path, prepared.definitions, expander)
    attribute_macros = [d for d in prepared.definitions if is_attribute_macro(d)]
    structural = [d for d in prepared.definitions if is_structural(d)]
    configurations = [d for d in prepared.definitions if is_configuration(d)]
    uses = find_uses(
        prepared.bare, [*attribute_macros, *structural, *configurations, *bodies.definitions]
    )
    used = {use.name for use in uses}
    definers = {d.name for d in bodies.definitions if d.name in used and bodies.own(d).defines}
    shared_words = tuple(sorted({d.name for d in attribute_macros if b"__shared__" in d.body}))
    pieces = [
        (extract(path, text, expander, shared_words), text)
        for text in texts(prepared, uses, definers)
    ]
    raw = merge(pieces)
    launches_of_macros(pieces[0][1].bare, raw, uses, configurations)
    hidden = islands(path, pieces[0][1], raw, expander, shared_words)
    spend(_BROKEN_UNITS * (len(hidden) + len(raw.errors)))
    with_bodies = {d.name for d in bodies.definitions}
    return assemble(path, prepared, raw, [u for u in uses if u.name in with_bodies], bodies, hidden)
