"""Holds once what the models of many files hold alike: short texts, and offsets.

A model out of the parser, and more so one out of the cache or another process, has
an object of its own for each of them, which is half of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from cudalint.finding import Span
from cudalint.syntax.model import FileModel

_LONGEST = 64
"""Longer texts are hardly ever the same twice."""

_set = msgspec.structs.force_setattr


class Sharing:
    """The texts and offsets of some models, each once."""

    def __init__(self) -> None:
        known: dict[Any, Any] = {}
        self._once = known.setdefault
        self._plans: dict[type[Any], _Plan] = {}

    def share(self, model: FileModel) -> FileModel:
        """`model`, equal to what it was; nobody else may hold a part of it yet."""
        for name in FileModel.__struct_fields__:
            values = getattr(model, name)
            if type(values) is tuple and values:
                self._records(values, model.path)
        return model

    def _records(self, values: tuple[Any, ...], path: str) -> None:
        if type(values[0]) is Span:
            self._spans(values, path)
            return
        once = self._once
        kind = type(values[0])
        if kind not in self._plans:
            self._plans[kind] = _plan(kind)
        plan = self._plans[kind]
        for record in values:
            self._spans(plan.spans(record), path)
            for name, text in zip(plan.names, plan.texts(record), strict=True):
                if text is not None and len(text) <= _LONGEST:
                    same = once(text, text)
                    if same is not text:
                        _set(record, name, same)
            for name, number in zip(plan.numbers, plan.counts(record), strict=True):
                same = once(number, number)
                if same is not number:
                    _set(record, name, same)
            for name in plan.lists:
                inner = getattr(record, name)
                if not inner:
                    continue
                if type(inner[0]) is str:
                    _set(record, name, once(inner, inner))
                else:
                    self._records(inner, path)

    def _spans(self, spans: tuple[Any, ...], path: str) -> None:
        once = self._once
        for span in spans:
            if span is not None:
                if span.path is not path:
                    _set(span, "path", path)
                start, end = span.start, span.end
                _set(span, "start", once(start, start))
                _set(span, "end", once(end, end))


class _Plan(msgspec.Struct, frozen=True):
    """Where records of one type hold what.

    Spans, texts (by `names`), counts (by `numbers`), and `lists`: tuples of records or texts.
    """

    spans: Callable[[Any], tuple[Any, ...]]
    texts: Callable[[Any], tuple[Any, ...]]
    names: tuple[str, ...]
    counts: Callable[[Any], tuple[Any, ...]]
    numbers: tuple[str, ...]
    lists: tuple[str, ...]


def _plan(kind: type[Any]) -> _Plan:
    spans, texts, numbers, lists = [], [], [], []
    for name, hint in get_type_hints(kind).items():
        held = {type(one) if isinstance(one, str) else one for one in get_args(hint)} or {hint}
        if get_origin(hint) is tuple:
            lists.append(name)
        elif Span in held:
            spans.append(name)
        elif held & {str, bytes}:
            texts.append(name)
        elif int in held:
            numbers.append(name)
    return _Plan(
        *(_getter(spans), _getter(texts), tuple(texts)),
        *(_getter(numbers), tuple(numbers), tuple(lists)),
    )


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """All values of some fields, in order."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)
