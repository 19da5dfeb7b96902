"""`read_model`: from a file's bytes to its FileModel. The stage's only entrance."""

from __future__ import annotations

from cudalint.syntax.assemble import assemble
from cudalint.syntax.extract import extract
from cudalint.syntax.join import islands, merge
from cudalint.syntax.macros import Expander
from cudalint.syntax.model import FileModel
from cudalint.syntax.prepare import find_uses, is_attribute_macro, prepare, texts
from cudalint.syntax.templates import Bodies


def read_model(path: str, data: bytes) -> FileModel:
    """What the source text `data` says; `path` is what its spans carry.

    Any bytes are accepted; what can't be understood is listed in `broken`.
    """
    prepared = prepare(data)
    expander = Expander(prepared.definitions)
    bodies = Bodies(path, prepared.definitions, expander)
    attribute_macros = [d for d in prepared.definitions if is_attribute_macro(d)]
    uses = find_uses(prepared.bare, [*attribute_macros, *bodies.definitions])
    used = {use.name for use in uses}
    definers = {d.name for d in bodies.definitions if d.name in used and bodies.own(d).defines}
    shared_words = tuple(sorted({d.name for d in attribute_macros if b"__shared__" in d.body}))
    pieces = [
        (extract(path, text, expander, shared_words), text)
        for text in texts(prepared, uses, definers)
    ]
    raw = merge(pieces)
    hidden = islands(path, pieces[0][1], raw, expander, shared_words)
    with_bodies = {d.name for d in bodies.definitions}
    return assemble(path, prepared, raw, [u for u in uses if u.name in with_bodies], bodies, hidden)
