"""Finds the rules there are: the modules of `cudalint.rules`, and named plugins.

A plugin is an installed package with an entry point of the group
`cudalint.rules` that is a rule class or a module of rules. It is loaded only
when the settings name it in `plugins`: nothing that merely happens to be
installed changes what a run reports, and the search through the installed
packages (50 ms) is paid by those who use one.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

import cudalint.rules
from cudalint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = "cudalint.rules"


class PluginError(Exception):
    """A plugin that the settings name is not installed, or holds no rule."""


def all_rules(plugins: Sequence[str] = ()) -> tuple[type[Rule], ...]:
    """Every rule class, sorted by code. Raises PluginError."""
    rules = {*_own_rules(), *(_plugin_rules(plugins) if plugins else ())}
    return tuple(sorted(rules, key=lambda rule: rule.code))


def rules_in(module: ModuleType) -> list[type[Rule]]:
    """The rule classes that a module defines itself."""
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
    ]


@cache
def _own_rules() -> tuple[type[Rule], ...]:
    """Those of this package, looked for once in the life of a server."""
    names = (info.name for info in iter_modules(cudalint.rules.__path__))
    modules = [import_module(f"{cudalint.rules.__name__}.{name}") for name in names]
    return tuple(rule for module in modules for rule in rules_in(module))


def _plugin_rules(plugins: Sequence[str]) -> list[type[Rule]]:
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    rules: list[type[Rule]] = []
    for name in plugins:
        if name not in found:
            known = ", ".join(sorted(found)) or "none"
            raise PluginError(f"plugin '{name}' is not installed (installed: {known})")
        loaded = found[name].load()
        of_plugin = rules_in(loaded) if isinstance(loaded, ModuleType) else [loaded]
        if not of_plugin or not all(
            inspect.isclass(rule) and issubclass(rule, Rule) for rule in of_plugin
        ):
            raise PluginError(f"plugin '{name}' holds no rule")
        rules += of_plugin
    return rules
