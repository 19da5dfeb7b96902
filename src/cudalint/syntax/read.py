"""`read_model` and `read_models`: from files' bytes to FileModels. The stage's only entrances.

Many files are read side by side, stage by stage: the tables of the grammar take more
than a processor's nearest caches hold, and so does the code of the stages. File by
file, each would be fetched anew for every one; that is a sixth of the time of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudalint.batches import File, batches
from cudalint.syntax.again import Again
from cudalint.syntax.assemble import assemble
from cudalint.syntax.effort import Budget, spend
from cudalint.syntax.extract import extract
from cudalint.syntax.grammar import parse, wanted
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

_BATCH_BYTES = 400_000
"""So much source is read side by side; its trees take some twenty times of that."""

_BROKEN_UNITS = 300
"""What a region takes that can't be read, with the finding that it becomes."""


def read_model(path: str, data: bytes) -> FileModel:
    """What the source text `data` says; `path` is what its spans carry.

    Any bytes are accepted; what can't be understood is listed in `broken`. Raises
    TooComplexError for what no file written by hand comes near.
    """
    (result,) = read_models([(path, data)])
    if isinstance(result, Exception):
        raise result
    return result


def read_models(files: Iterable[File]) -> Iterator[FileModel | Exception]:
    """The model of each file, in order; or what `read_model` raises of it."""
    # What is known of the last reading is asked for file by file.
    size = 0 if last_read() else _BATCH_BYTES
    for together in batches(files, size):
        yield from _side_by_side(together)


def _side_by_side(files: list[File]) -> list[FileModel | Exception]:
    """Take all files through a stage before any goes to the next."""
    results: list[FileModel | Exception | None] = [None] * len(files)
    readings = [(_read(path, data), Budget()) for path, data in files]
    going = list(range(len(files)))
    while going:
        for at in going:
            reading, budget = readings[at]
            try:
                with budget:
                    results[at] = next(reading)
            except Exception as error:  # noqa: BLE001  (it is that one file's result)
                results[at] = error
        going = [at for at in going if results[at] is None]
    return [result for result in results if result is not None]


def _read(path: str, data: bytes) -> Iterator[FileModel | None]:
    """Read one file; stops after each stage, with nothing, and at last gives the model."""
    prepared = prepare(data)
    yield None
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
    variants = texts(prepared, uses, definers)
    yield None
    last = last_read()
    if last:
        last.start(path)
    trees = [parse(text.parse) for text in variants]
    yield None
    again = Again(prepared.definitions, shared_words)
    parts = again.parts(variants, trees)
    looked_over = [
        wanted(tree, text.parse, part)
        for text, tree, part in zip(variants, trees, parts, strict=True)
    ]
    yield None
    pieces = [
        (extract(path, text, tree, found, expander, shared_words, part), text)
        for text, tree, found, part in zip(variants, trees, looked_over, parts, strict=True)
    ]
    del trees, looked_over
    yield None
    pieces = again.whole(pieces)
    raw = merge(pieces)
    launches_of_macros(pieces[0][1].bare, raw, uses, configurations)
    hidden = islands(path, pieces[0][1], raw, expander, shared_words)
    spend(_BROKEN_UNITS * (len(hidden) + len(raw.errors)))
    with_bodies = {d.name for d in bodies.definitions}
    used_bodies = [u for u in uses if u.name in with_bodies]
    yield assemble(path, prepared, raw, used_bodies, bodies, hidden)
