"""Finds the records that a value is made of."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


def records(value: object) -> Iterator[msgspec.Struct]:
    """The records that a value holds, itself among them."""
    if isinstance(value, msgspec.Struct):
        yield value
        for name in value.__struct_fields__:
            yield from records(getattr(value, name))
    elif isinstance(value, dict):
        yield from records((*value, *value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from records(one)
