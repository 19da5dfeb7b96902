"""Finds the settings of a run, reads and validates them.

The nearest cudalint.toml, or pyproject.toml with a `[tool.cudalint]` table,
upward from the paths to be linted, and nothing else: files further up add
nothing. What names rules is validated in `cudalint.settings.check`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from cudalint.namedfile import read_named
from cudalint.settings.model import ARCH_PATTERN, LaunchSettings, RuleSettings, Settings
from cudalint.settings.origin import Key, Origin, SettingsError, did_you_mean

NAMES = ("cudalint.toml", "pyproject.toml")


class Loaded(msgspec.Struct, frozen=True):
    """Validated settings; `origin` is None when no file gave any. `root` is absolute."""

    settings: Settings
    root: Path
    origin: Origin | None = None


def load_settings(
    paths: Sequence[str], cwd: Path, *, config: str | None = None, isolated: bool = False
) -> Loaded:
    """The settings for linting `paths` (as given on the command line, relative to `cwd`).

    `config` names the file to use instead of searching; `isolated` uses none.
    The root is the found file's folder, else `cwd`. Raises SettingsError.
    """
    if config is not None:
        origin = _open_config(Path(config), cwd)
        return Loaded(parse_settings(origin), cwd, origin)
    if not isolated:
        start = common_folder(paths, cwd)
        for folder in (start, *start.parents):
            for name in NAMES:
                found = _read_if_ours(folder / name, cwd)
                if found is not None:
                    return Loaded(parse_settings(found), folder, found)
    return Loaded(Settings(), cwd)


def common_folder(paths: Sequence[str], cwd: Path) -> Path:
    """The deepest folder that holds all `paths`; `cwd` when there are none."""
    folders = []
    for path in paths:
        absolute = os.path.normpath(cwd / path)
        folders.append(absolute if os.path.isdir(absolute) else os.path.dirname(absolute))  # noqa: PTH112, PTH120
    return Path(os.path.commonpath(folders)) if folders else cwd


def parse_settings(origin: Origin) -> Settings:
    """Read settings out of TOML text. Raises SettingsError with file, line and column."""
    raw: Any = parse_toml(origin)
    for step in origin.table:
        raw = raw.get(step, {})
        if not isinstance(raw, dict):
            raise SettingsError(f"{origin.place((), value=True)}: must be a table")
    fields = dict(raw)
    rules = {}
    for name, table in _table(fields, "rules", origin).items():
        rules[name] = _rule_settings(name, table, origin)
    for pattern, selectors in _table(fields, "per-file-ignores", origin).items():
        convert(selectors, tuple[str, ...], ("per-file-ignores", pattern), origin)
    for pattern, launch in _table(fields, "launches", origin).items():
        convert(launch, LaunchSettings, ("launches", pattern), origin)
    fields.pop("rules", None)
    settings: Settings = convert(fields, Settings, (), origin)
    return msgspec.structs.replace(settings, rules=rules)


def _open_config(path: Path, cwd: Path) -> Origin:
    try:
        data = read_named(cwd / path, pipes=True)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from None
    return Origin(str(path), data, ("tool", "cudalint") if path.name == NAMES[1] else ())


def _read_if_ours(path: Path, cwd: Path) -> Origin | None:
    """The file as settings, or None when it is absent or says nothing to us."""
    ours = path.name == NAMES[0]
    if ours:
        _refuse_link_out(path, cwd)
    try:
        data = read_named(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if not _is_there(path):
            return None
        raise SettingsError(f"cannot read {_label(path, cwd)}: {error.strerror}") from None
    if ours:
        return Origin(_label(path, cwd), data)
    if b"cudalint" not in data:
        return None
    _refuse_link_out(path, cwd)
    origin = Origin(_label(path, cwd), data, ("tool", "cudalint"))
    tool = parse_toml(origin).get("tool")
    return origin if isinstance(tool, dict) and "cudalint" in tool else None


def _refuse_link_out(path: Path, cwd: Path) -> None:
    """Raise SettingsError for a link out of its folder: what it names is no part of the tree."""
    from cudalint.writing import link_out

    outside = link_out(path)
    if outside is not None:
        what = f"a symbolic link that leads to {outside}, outside its folder"
        hint = "it is not followed unless --config names it"
        raise SettingsError(f"{_label(path, cwd)} is {what}; {hint}")


def _is_there(path: Path) -> bool:
    """Whether the file is seen to exist: what a locked folder holds says nothing to us."""
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _label(path: Path, cwd: Path) -> str:
    return os.path.relpath(path, cwd)


def parse_toml(origin: Origin) -> dict[str, Any]:
    """The document as plain data; a fault is a SettingsError at its line and column."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        document: dict[str, Any] = tomllib.loads(origin.data.decode("utf-8"))
    except ValueError:  # no UTF-8 or no TOML, or a byte order mark, which is neither's fault
        document = _parse_with_places(origin)
    return document


def _parse_with_places(origin: Origin) -> dict[str, Any]:
    from cudalint.tree.toml import SyntaxFault, read_toml

    read = read_toml(origin.label, origin.data)
    if isinstance(read, SyntaxFault):
        problem = read.problem[0].lower() + read.problem[1:]
        raise SettingsError(f"{origin.place(())}: invalid TOML: {problem}")
    document: dict[str, Any] = read.value
    return document


def _table(fields: dict[str, Any], key: str, origin: Origin) -> dict[str, Any]:
    table = fields.get(key, {})
    if not isinstance(table, dict):
        raise SettingsError(f"{origin.place((key,), value=True)}: '{key}' must be a table")
    return table


def _rule_settings(name: str, table: object, origin: Origin) -> RuleSettings:
    keys = ("rules", name)
    if not isinstance(table, dict):
        raise SettingsError(f"{origin.place(keys, value=True)}: 'rules.{name}' must be a table")
    options = dict(table)
    level = options.pop("level", None)
    converted: RuleSettings = convert({"level": level}, RuleSettings, keys, origin)
    return msgspec.structs.replace(converted, options=options)


def convert(value: object, type_: Any, keys: tuple[Key, ...], origin: Origin) -> Any:
    """The plain data at `keys` of a document as a `type_`. Raises SettingsError with its place."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise explain(error, type_, keys, origin) from None


def explain(
    error: msgspec.ValidationError,
    type_: Any,
    keys: tuple[Key, ...],
    origin: Origin,
    beside: tuple[str, ...] = (),
) -> SettingsError:
    """Make one line of a validation error of `type_` at `keys`: place, problem, what was meant.

    `beside` are keys that may stand there too.
    """
    text, _, path = str(error).partition(" - at `$")
    steps = re.findall(r"\.([^.\[`]+)|\[(\d+)\]", path)
    below = keys + tuple(int(index) if index else name for name, index in steps)
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", text, re.DOTALL)
    if unknown:
        key = unknown[1]
        place = origin.place((*below, key))
        known = [field.encode_name for field in msgspec.structs.fields(type_)]
        known += beside
        return SettingsError(f"{place}: unknown key '{key}'{did_you_mean(key, known)}")
    name = ".".join(step for step in below if isinstance(step, str))
    problem = text[0].lower() + text[1:].replace("`", "").replace(" | null", "")
    if ARCH_PATTERN in text:
        problem = "expected an arch of nvcc's, such as 'sm_90a'"
    invalid = re.fullmatch(r"Invalid enum value '(.*)'", text, re.DOTALL)
    if invalid:
        allowed = _allowed(type_, str(below[-1]))
        problem = f"'{invalid[1]}' is none of {', '.join(allowed)}"
        problem += did_you_mean(invalid[1], allowed)
    return SettingsError(f"{origin.place(below, value=True)}: {name}: {problem}")


def _allowed(type_: Any, key: str) -> list[str]:
    """The words that the field `key` of a Struct may hold."""
    from typing import get_args

    for field in msgspec.structs.fields(type_):
        if field.encode_name == key:
            words = (
                word for part in (field.type, *get_args(field.type)) for word in get_args(part)
            )
            return list(dict.fromkeys(word for word in words if isinstance(word, str)))
    return []
