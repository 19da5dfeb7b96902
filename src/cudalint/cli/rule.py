"""`cudalint rule`: what a rule is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cudalint.rule import Rule


@click.command("rule")
@click.argument("rule", metavar="CODE|NAME")
def command(rule: str) -> int:
    """Explain a rule: what it does, why it matters, how to fix what it finds."""
    from cudalint.registry import all_rules
    from cudalint.rulepage import markdown

    found = _find(rule, all_rules())
    click.echo(markdown(found), nl=False)
    return 0


def _find(word: str, rules: tuple[type[Rule], ...]) -> type[Rule]:
    for rule in rules:
        if word.lower() in (rule.code.lower(), rule.name, f"cudalint-{rule.name}"):
            return rule
    from cudalint.settings.check import is_reserved
    from cudalint.settings.origin import did_you_mean

    if is_reserved(word.upper()) or is_reserved(word.lower()):
        raise click.UsageError(f"rule '{word}' is not available yet")

    names = [name for rule in rules for name in (rule.code, rule.name)]
    meant = did_you_mean(word, names) or did_you_mean(word.upper(), names)
    raise click.UsageError(f"there is no rule '{word}'{meant}")
