"""`cudalint rule`: what a rule is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cudalint.rule import Rule


_EPILOG = """\
Examples:

\b
  cudalint rule CU302                     by its code
  cudalint rule spdx-header               by its name
  cudalint rule --all --output-format markdown > rules.md
"""


@click.command("rule", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("rule", metavar="CODE|NAME", required=False)
@click.option("--all", "all_", is_flag=True, help="All rules, one after the other.")
@click.option(
    "--output-format",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="How it is written.",
)
def command(rule: str | None, all_: bool, output_format: str) -> int:
    """Explain a rule: what it does, why it matters, how to fix what it finds."""
    from cudalint.registry import installed_rules

    if (rule is None) is not all_:
        raise click.UsageError("give one rule, by its code or name, or --all")
    found = installed_rules().rules
    if rule is not None:
        found = (_find(rule, found),)
    click.echo(_written(found, output_format, one=rule is not None), nl=False)
    return 0


def _written(rules: Sequence[type[Rule]], output_format: str, *, one: bool) -> str:
    from cudalint import rulepage

    if output_format == "json":
        import msgspec

        records = [rulepage.record(rule) for rule in rules]
        document = msgspec.json.encode(records[0] if one else records)
        return msgspec.json.format(document, indent=2).decode() + "\n"
    page = rulepage.markdown if output_format == "markdown" else rulepage.text
    return "\n".join(page(rule) for rule in rules)


def _find(word: str, rules: tuple[type[Rule], ...]) -> type[Rule]:
    for rule in rules:
        if word.lower() in (rule.code.lower(), rule.name, f"cudalint-{rule.name}"):
            return rule
    from cudalint.settings.origin import did_you_mean

    names = [name for rule in rules for name in (rule.code, rule.name)]
    meant = did_you_mean(word, names) or did_you_mean(word.upper(), names)
    raise click.UsageError(f"there is no rule '{word}'{meant}")
