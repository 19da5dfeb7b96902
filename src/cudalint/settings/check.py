"""Holds the settings to the rules that exist: selectors, `[rules]` tables, options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.settings.load import Loaded, explain
from cudalint.settings.model import Settings
from cudalint.settings.origin import Key, Origin, SettingsError, did_you_mean
from cudalint.settings.select import Overrides, specificity

if TYPE_CHECKING:
    from cudalint.registry import Known
    from cudalint.rule import Rule


def check_selectors(loaded: Loaded, overrides: Overrides, known: Known) -> None:
    """Raise SettingsError for the first selector that names no rule, and say where it stood.

    While a plugin can't be used, what names no rule may be one of its, and is passed over.
    """
    if not known.complete:
        return
    for option, selectors in (
        ("--select", overrides.select or ()),
        ("--ignore", overrides.ignore),
        ("--extend-select", overrides.extend_select),
    ):
        for selector in selectors:
            _check(selector, known, f"in {option} on the command line")
    settings = loaded.settings
    for key, selectors in (
        ("select", settings.select),
        ("ignore", settings.ignore),
        ("extend-select", settings.extend_select),
    ):
        for index, selector in enumerate(selectors):
            _check(selector, known, f"in '{key}'", loaded.origin, (key, index))
    for pattern, selectors in settings.per_file_ignores.items():
        for index, selector in enumerate(selectors):
            keys = ("per-file-ignores", pattern, index)
            _check(selector, known, f"in 'per-file-ignores' for '{pattern}'", loaded.origin, keys)


def rule_options(
    settings: Settings, origin: Origin | None, known: Known
) -> dict[str, msgspec.Struct]:
    """The options of each rule by its code, the settings' `[rules]` tables put in.

    A table may be named by code or name, not by both. Raises SettingsError; not for
    a table of no rule while a plugin can't be used, for it may be one of its.
    """
    rules = known.rules
    by_key = {key: rule for rule in rules for key in (rule.code, rule.name)}
    given: dict[str, tuple[str, dict[str, object]]] = {}
    for key, table in settings.rules.items():
        rule = by_key.get(key)
        if rule is None and not known.complete:
            continue
        if rule is None:
            place = _place(origin, ("rules", key))
            raise SettingsError(f"{place}unknown rule '{key}'{did_you_mean(key, list(by_key))}")
        if rule.code in given:
            place = _place(origin, ("rules", key))
            raise SettingsError(f"{place}'{given[rule.code][0]}' and '{key}' are the same rule")
        given[rule.code] = (key, table.options)
    return {
        rule.code: _convert(rule, *given[rule.code], origin)
        if rule.code in given
        else rule.options()
        for rule in rules
    }


def _convert(
    rule: type[Rule], key: str, options: dict[str, object], origin: Origin | None
) -> msgspec.Struct:
    try:
        return msgspec.convert(options, rule.options)
    except msgspec.ValidationError as error:
        if origin is None:
            raise SettingsError(f"rules.{key}: {error}") from None
        raise explain(error, rule.options, ("rules", key), origin, ("level",)) from None


def _check(
    selector: str,
    known: Known,
    where: str,
    origin: Origin | None = None,
    keys: Sequence[Key] = (),
) -> None:
    rules = known.rules
    if any(specificity(selector, rule) is not None for rule in rules):
        return
    names = ["ALL", *(rule.code for rule in rules), *(rule.name for rule in rules)]
    place = _place(origin, keys)
    meant = did_you_mean(selector, names) or did_you_mean(selector.upper(), names)
    raise SettingsError(f"{place}unknown rule '{selector}' {where}{meant or _not_named(known)}")


def _not_named(known: Known) -> str:
    """The plugins that are installed and that nobody named, for the rule may be of one."""
    from cudalint.plugins import installed_plugins

    named = {plugin.name for plugin in known.owners.values()}
    others = [name for name in installed_plugins() if name not in named]
    return f" (installed and not in 'plugins': {', '.join(others)})" if others else ""


def _place(origin: Origin | None, keys: Sequence[Key]) -> str:
    return f"{origin.place(keys, value=isinstance(keys[-1], int))}: " if origin and keys else ""
