"""Decides where a fault inside a macro's body is reported.

A fault that stands in the body itself is one finding, at the definition, with
the uses as extents; a fault that only an argument brings is one finding for
each such use. What a fault is, the rules say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import msgspec

from cudalint.finding import Related, Span

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel, Function


class Record(Protocol):
    """What the records of a FileModel that can come out of a macro have in common."""

    @property
    def name_span(self) -> Span: ...
    @property
    def via_macro(self) -> str: ...
    @property
    def use(self) -> Span | None: ...


R = TypeVar("R", bound=Record)
V = TypeVar("V")


class Place(msgspec.Struct, Generic[R, V], frozen=True):
    """One fault: the record that shows it, the verdict on it, where it is reported.

    `uses` are the uses of the macro whose body holds the fault, none for a
    fault outside macros or at a use.
    """

    record: R
    verdict: V
    span: Span
    uses: tuple[Span, ...] = ()

    @property
    def related(self) -> tuple[Related, ...]:
        """The first use of the macro, for a reader who wonders who uses it."""
        return tuple(Related(use, "used here") for use in self.uses[:1])


def places(
    records: Iterable[R],
    judge: Callable[[R], V | None],
    fixed: Callable[[R], bool],
    *,
    alone: bool = True,
) -> Iterator[Place[R, V]]:
    """Judge each record; yield one place for each fault.

    `fixed` tells of a body's own record whether what may be wrong with it stands
    in the body, whatever the macro's arguments are. `alone`: whether a body that
    nothing in this file uses is judged as it stands.
    """
    bodies: dict[tuple[str, Span], _Body[R]] = {}
    for record in records:
        if not record.via_macro:
            verdict = judge(record)
            if verdict is not None:
                yield Place(record, verdict, record.name_span)
            continue
        body = bodies.setdefault((record.via_macro, record.name_span), _Body())
        if record.use is None:
            body.template = record
        else:
            body.uses.append(record)
    for body in bodies.values():
        yield from _of_body(body, judge, fixed, alone)


def words_fixed(model: FileModel) -> Callable[[Function], bool]:
    """For `places`: whether a kernel's head in a macro's body has no word from an argument."""
    parameters = {macro.name: frozenset(macro.parameters or ()) for macro in model.macros}

    def fixed(kernel: Function) -> bool:
        return parameters.get(kernel.via_macro, frozenset()).isdisjoint(kernel.words)

    return fixed


class _Body(Generic[R]):
    """One record of a macro's body: as written, and as each use makes it."""

    def __init__(self) -> None:
        self.template: R | None = None
        self.uses: list[R] = []


def _of_body(
    body: _Body[R], judge: Callable[[R], V | None], fixed: Callable[[R], bool], alone: bool
) -> Iterator[Place[R, V]]:
    faulty = [(use, verdict) for use in body.uses if (verdict := judge(use)) is not None]
    template = body.template
    if template is not None and fixed(template):
        if faulty:
            spans = tuple(use.use for use, _ in faulty if use.use is not None)
            yield Place(faulty[0][0], faulty[0][1], template.name_span, spans)
        elif alone and not body.uses:
            verdict = judge(template)
            if verdict is not None:
                yield Place(template, verdict, template.name_span)
        return
    for use, verdict in faulty:
        if use.use is not None:
            yield Place(use, verdict, use.use)
