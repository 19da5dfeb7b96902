"""Which rules run, on which files, at which level.

A selector is a full code, a rule's name, the beginning of a code ("CU3") or
"ALL". The longer, the more specific; a more specific one beats a less specific
one, and `ignore` beats `select` where both are as specific. What the command
line says beats the settings file, save that its `select` leaves standing what
the file's `ignore` takes out more specifically.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from cudalint.finding import Level
from cudalint.patterns import Patterns
from cudalint.settings.model import Settings

if TYPE_CHECKING:
    from cudalint.rule import Rule

EXACT = 1000
"""The specificity of a full code or name; a prefix has its length, "ALL" has 0."""


class Overrides(msgspec.Struct, frozen=True):
    """The selectors of the command line; `select` None means that it gave none."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


class _Match(NamedTuple):
    specificity: int
    command_line: bool


def specificity(selector: str, rule: type[Rule]) -> int | None:
    """How specifically `selector` names `rule`, None when it does not."""
    if selector in (rule.code, rule.name):
        return EXACT
    if selector == "ALL":
        return 0
    return len(selector) if is_prefix(selector) and rule.code.startswith(selector) else None


def is_prefix(selector: str) -> bool:
    """Whether `selector` has the form of the beginning of a code: letters, then digits."""
    letters = selector.rstrip("0123456789")
    return letters.isalpha() and letters.isupper()


def selected_rules(
    rules: Iterable[type[Rule]],
    settings: Settings,
    overrides: Overrides = Overrides(),  # noqa: B008
) -> tuple[type[Rule], ...]:
    """Those of `rules` that a run with these settings runs, in the given order."""
    if overrides.select is None:
        selecting = [(s, False) for s in (*settings.select, *settings.extend_select)]
    else:
        selecting = [(s, True) for s in overrides.select]
    selecting += [(s, True) for s in overrides.extend_select]
    ignoring = [(s, False) for s in settings.ignore] + [(s, True) for s in overrides.ignore]
    return tuple(
        rule
        for rule in rules
        if _is_selected(rule, _matches(selecting, rule), _matches(ignoring, rule), settings)
    )


def _matches(selectors: Iterable[tuple[str, bool]], rule: type[Rule]) -> list[_Match]:
    found = ((specificity(selector, rule), command_line) for selector, command_line in selectors)
    return [_Match(score, command_line) for score, command_line in found if score is not None]


def _is_selected(
    rule: type[Rule], selecting: list[_Match], ignoring: list[_Match], settings: Settings
) -> bool:
    least = 0 if rule.default else 1
    if rule.preview and not settings.preview:
        least = EXACT
    return any(
        match.specificity >= least and not any(_beats(other, match) for other in ignoring)
        for match in selecting
    )


def _beats(ignore: _Match, select: _Match) -> bool:
    if ignore.command_line == select.command_line:
        return ignore.specificity >= select.specificity
    return ignore.command_line or ignore.specificity > select.specificity


def level_in_force(rule: type[Rule], settings: Settings) -> Level:
    """The rule's level, or the one that `[rules.<code or name>]` gives it."""
    for key in (rule.code, rule.name):
        given = settings.rules.get(key)
        if given is not None and given.level is not None:
            return Level(given.level)
    return rule.level


class PerFileIgnores:
    """The `per-file-ignores` setting, asked for one file and rule at a time."""

    def __init__(self, settings: Settings, rules: Sequence[type[Rule]]) -> None:
        self._patterns = []
        for pattern, selectors in settings.per_file_ignores.items():
            codes = frozenset(
                rule.code
                for rule in rules
                if any(specificity(selector, rule) is not None for selector in selectors)
            )
            self._patterns.append((Patterns([pattern]), codes))
        self._by_path: dict[str, frozenset[str]] = {}

    def ignored(self, path: str) -> frozenset[str]:
        """The codes that are not reported in the file at `path` (relative to the root)."""
        if not self._patterns:
            return frozenset()
        if path not in self._by_path:
            hits = (codes for spec, codes in self._patterns if spec.match(path))
            self._by_path[path] = frozenset().union(*hits)
        return self._by_path[path]
