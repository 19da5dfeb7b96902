"""Each setting in force, with its default and where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from cudalint.settings.load import Loaded
from cudalint.settings.meaning import MEANING
from cudalint.settings.model import Settings


class SettingInForce(msgspec.Struct, frozen=True):
    """One key with a plain value; the rows of tables are keys of their own.

    `keys` are the steps to it (`("rules", "CU501", "level")`). `place` is
    `file:line:column` of the key, None where the value is the default.
    """

    keys: tuple[str, ...]
    value: Any
    place: str | None

    @property
    def name(self) -> str:
        """The key as TOML spells it: `per-file-ignores."tests/**"`."""
        return ".".join(_spelt(key) for key in self.keys)


def settings_in_force(loaded: Loaded) -> Iterator[SettingInForce]:
    """All of them in the order of the documentation; an empty table is left out."""
    values = _plain(loaded.settings)
    for key in MEANING:
        yield from _rows((key,), values[key], loaded)


def default_of(key: str) -> Any:
    """The default of a top-level key, as plain data."""
    return _plain(Settings())[key]


def _plain(settings: Settings) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(settings)
    values["rules"] = {
        name: {key: value for key, value in table.items() if key != "options" and value is not None}
        | table["options"]
        for name, table in values["rules"].items()
    }
    return values


def _rows(keys: tuple[str, ...], value: Any, loaded: Loaded) -> Iterator[SettingInForce]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if inner is not None:
                yield from _rows((*keys, key), inner, loaded)
        return
    written = loaded.origin is not None and loaded.origin.holds(keys)
    place = loaded.origin.place(keys) if loaded.origin is not None and written else None
    yield SettingInForce(keys, value, place)


def _spelt(key: str) -> str:
    bare = all(char.isascii() and (char.isalnum() or char in "-_") for char in key)
    return key if key and bare else msgspec.json.encode(key).decode()
