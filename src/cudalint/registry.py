"""Finds the rules there are: the modules of `cudalint.rules`, and those of named plugins.

A plugin is loaded only when it is named: nothing that merely happens to be
installed changes what a run reports, and the search through the installed
packages (50 ms) is paid by those who use one. It is `cudalint.plugins`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import msgspec

import cudalint.rules
from cudalint.ruleform import rules_in
from cudalint.run import Notification, Plugin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudalint.rule import Rule


class Known(msgspec.Struct, frozen=True):
    """Every rule that a run may select, sorted by code.

    `owners` gives the plugin of a rule by its code, `problems` what of the plugins
    can't be used.
    """

    rules: tuple[type[Rule], ...]
    owners: dict[str, Plugin] = {}
    problems: tuple[Notification, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every plugin that was named could be used, so that no other rule exists."""
        return not self.problems


def known_rules(plugins: Sequence[str] = (), more: Sequence[type[Rule]] = ()) -> Known:
    """The rules of cudalint, those of the named plugins, and `more` as they are."""
    own = all_rules()
    if more:
        own = tuple(sorted({*own, *more}, key=lambda rule: rule.code))
    if not plugins:
        return Known(own)
    from cudalint.plugins import load_plugins

    loaded = load_plugins(plugins, own)
    every = tuple(sorted((*own, *loaded.rules), key=lambda rule: rule.code))
    return Known(every, loaded.owners, loaded.problems)


def installed_rules() -> Known:
    """The rules of cudalint and of every installed plugin, as for a list of all there are."""
    from cudalint.plugins import installed_plugins

    return known_rules(list(installed_plugins()))


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule class of cudalint's own, sorted by code."""
    names = (info.name for info in iter_modules(cudalint.rules.__path__))
    modules = [import_module(f"{cudalint.rules.__name__}.{name}") for name in names]
    found = (rule for module in modules for rule in rules_in(module))
    return tuple(sorted(found, key=lambda rule: rule.code))
