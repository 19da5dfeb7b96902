"""From sarif-om objects to JSON text.

sarif-om's own serialiser (jschema-to-python) drops values that equal a default,
a result's level among them, writes nulls, and takes five seconds for ten
thousand results; hence this one, over the same metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import attr

_KEPT_WHEN_EMPTY = ("suppressions", "rules")
"""An empty list means something there: a result that is not suppressed, a run that got nowhere."""


def to_data(value: Any) -> Any:
    """`value` as plain JSON data: names of the SARIF standard, no nulls, no empty properties.

    Numbers that are -1, which the standard takes for "not there" in indexes and
    ranks, are left out. Raises TypeError for what SARIF has no place for.
    """
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _encodable(value)
    if kind is int or kind is bool:
        return value
    if kind is float:
        if value - value != 0.0:
            raise TypeError(f"no JSON number: {value}")
        return value
    if kind is list or kind is tuple:
        return [to_data(item) for item in value]
    if kind is dict:
        return {_key(key): to_data(item) for key, item in value.items() if item is not None}
    if attr.has(kind):
        return _object(value, kind)
    raise TypeError(f"no SARIF value: {kind.__name__}")


def _object(value: Any, kind: type) -> dict[str, Any]:
    data: dict[str, Any] = {}
    held_by = vars(value)
    for name, key in _plan(kind):
        held = held_by[name]
        if held is None:
            continue
        of = type(held)
        if of is str and held.isascii():
            data[key] = held
        elif of is int or of is float:
            if held != -1:
                data[key] = to_data(held)
        elif held or of is bool or of is str or key in _KEPT_WHEN_EMPTY:
            data[key] = to_data(held)
    return data


@cache
def _plan(kind: type) -> tuple[tuple[str, str], ...]:
    """The attributes of a sarif-om class with their names in the standard."""
    return tuple((f.name, f.metadata["schema_property_name"]) for f in attr.fields(kind))


def _key(key: Any) -> str:
    if type(key) is not str:
        raise TypeError(f"no JSON key: {key!r}")
    return _encodable(key)


def _encodable(text: str) -> str:
    """`text` with replacement characters for what UTF-8 can't hold (lone surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def to_json(log: Any, results: Iterable[str]) -> str:
    """The text of a `SarifLog` with one run, `$schema` and `version` first.

    `results` are the texts of the run's results, each to stand on a line; taking
    them as text keeps ten thousand object graphs from being alive at once.
    """
    data = to_data(log)
    (run,) = data.pop("runs")
    first = {key: data.pop(key) for key in ("$schema", "version")}
    return assembled(first | data, run, results)


def assembled(log: dict[str, Any], run: dict[str, Any], results: Iterable[str]) -> str:
    """The text of a log of plain data around its one `run`."""
    outer = [f"{dumps(key)}: {dumps(value)}" for key, value in log.items()]
    inner = [f"{dumps(key)}: {dumps(value)}" for key, value in run.items()]
    lines = ",\n".join(results)
    inner.append('"results": [' + (f"\n{lines}\n" if lines else "") + "]")
    return "{\n" + ",\n".join(outer) + ',\n"runs": [{\n' + ",\n".join(inner) + "\n}]\n}\n"


def arranged(data: dict[str, Any], kind: type) -> dict[str, Any]:
    """The plain data of an object of sarif-om's class `kind`, in order, empty properties out."""
    keys = (key for _, key in _plan(kind))
    return {
        key: data[key] for key in keys if key in data and (data[key] or key in _KEPT_WHEN_EMPTY)
    }


def to_text(value: Any) -> str:
    """The JSON of one sarif-om object, on one line."""
    return dumps(to_data(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
dumps = _ENCODER.encode
"""The JSON of plain data, on one line."""
