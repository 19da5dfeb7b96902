"""Plugins: installed packages with rules of their own, found by their entry points.

A plugin is an entry point of the group `cudalint.rules`, which names a package, a
module or a class. It is loaded when it is named, and looked for in the folders that
packages are installed in: never in the tree that is linted. What a rule must be to
be taken is said in `cudalint.ruleform`; docs/plugins.md is the contract.
"""

from __future__ import annotations

import inspect
import site
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.finding import Level
from cudalint.ruleform import fault_of, rules_in
from cudalint.run import Notification, Plugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from cudalint.rule import Rule

GROUP = "cudalint.rules"


class Plugins(msgspec.Struct, frozen=True):
    """What came of loading plugins: rules, the plugin of each by its code, what went wrong."""

    rules: tuple[type[Rule], ...] = ()
    owners: dict[str, Plugin] = {}
    problems: tuple[Notification, ...] = ()


def load_plugins(names: Sequence[str], own: Sequence[type[Rule]]) -> Plugins:
    """Load the plugins of these names; `own` are the rules that theirs must not clash with.

    What can't be used is told in `problems`, and all else is there.
    """
    loading = _Loading(own)
    for name in dict.fromkeys(names):
        loading.add(name)
    return Plugins(tuple(loading.rules), loading.owners, tuple(loading.problems))


def installed_plugins() -> dict[str, Plugin]:
    """Every plugin that is installed, by name and in order of the names; none is loaded."""
    return {name: found.plugin for name, found in sorted(_installed().items())}


class _Found(msgspec.Struct, frozen=True):
    """An entry point, and the plugin that it is."""

    plugin: Plugin
    point: Any


class _Loading:
    """Takes one plugin after the other. Who comes first keeps a code or name."""

    def __init__(self, own: Sequence[type[Rule]]) -> None:
        self.rules: list[type[Rule]] = []
        self.owners: dict[str, Plugin] = {}
        self.problems: list[Notification] = []
        self._taken = {key: rule for rule in own for key in (rule.code, rule.name)}

    def add(self, name: str) -> None:
        """Load one plugin and take its rules, as far as they can be used."""
        found = _installed().get(name)
        if found is None:
            known = ", ".join(sorted(_installed())) or "none"
            message = f"plugin '{name}' is not installed (installed: {known})"
            self.problems.append(Notification("unknown-plugin", Level.ERROR, message))
            return
        loaded = _load(found.point)
        if isinstance(loaded, _Failure):
            self._complain(name, loaded.what, loaded.traceback)
            return
        if not loaded:
            self._complain(name, "holds no rule")
        for value in loaded:
            self._take(value, found.plugin)

    def _take(self, value: object, plugin: Plugin) -> None:
        if inspect.isclass(value) and value in self.rules:
            return
        fault = fault_of(value)
        if fault is not None:
            shown = value.__name__ if inspect.isclass(value) else repr(value)
            self._complain(plugin.name, f"has a rule that can't be used: {shown} {fault}")
            return
        rule: type[Rule] = value  # type: ignore[assignment]
        for key in (rule.code, rule.name):
            if key in self._taken:
                other = self._taken[key]
                owner = self.owners.get(other.code)
                whose = f"plugin '{owner.name}'" if owner else "cudalint"
                self._complain(
                    plugin.name,
                    f"has a rule {rule.code} {rule.name}, but '{key}' is taken by"
                    f" {other.code} {other.name} of {whose}",
                )
                return
        self._taken |= {rule.code: rule, rule.name: rule}
        self.rules.append(rule)
        self.owners[rule.code] = plugin

    def _complain(self, name: str, what: str, detail: str = "") -> None:
        message = f"plugin '{name}' {what}"
        self.problems.append(Notification("plugin-failed", Level.ERROR, message, None, detail))


class _Failure(msgspec.Struct, frozen=True):
    """Why a plugin could not be imported, and where that happened."""

    what: str
    traceback: str


@cache
def _installed() -> dict[str, _Found]:
    """The entry points that there are, by name; of two of one name the first found counts."""
    from importlib.metadata import distributions

    found: dict[str, _Found] = {}
    for package in distributions(path=environment()):
        for point in package.entry_points:
            if point.group == GROUP and point.name not in found:
                plugin = Plugin(point.name, package.metadata["Name"], package.version)
                found[point.name] = _Found(plugin, point)
    return found


def environment() -> list[str]:
    """The folders that packages are installed in: this interpreter's, and cudalint's own.

    The current folder and PYTHONPATH are none, though modules are imported from there.
    """
    folders = [*site.getsitepackages(), str(Path(__file__).parents[1])]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return list(dict.fromkeys(folders))


@cache
def _load(point: EntryPoint) -> tuple[object, ...] | _Failure:
    """What an entry point holds that should be rules, looked at once in the life of a server."""
    try:
        loaded = point.load()
        if isinstance(loaded, ModuleType):
            return tuple(rule for module in _modules(loaded) for rule in rules_in(module))
        return (loaded,)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a plugin does is its own)
        import traceback

        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return _Failure(f"can't be imported: {said}", traceback.format_exc())


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    """A module, and those of a package one level deep."""
    from importlib import import_module
    from pkgutil import iter_modules

    yield module
    for info in iter_modules(getattr(module, "__path__", ())):
        yield import_module(f"{module.__name__}.{info.name}")
