"""`cudalint rules`: the list of all rules."""

from __future__ import annotations

import click


@click.command("rules")
def command() -> int:
    """List the rules: code, name, level, what each reports."""
    from cudalint.registry import all_rules
    from cudalint.rulepage import read_page

    rules = all_rules()
    width = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        marks = [rule.level.value]
        if rule.fix.value != "none":
            marks.append("fix" if rule.fix.value == "safe" else "unsafe fix")
        if rule.preview:
            marks.append("preview")
        if not rule.default:
            marks.append("off by default")
        click.echo(f"{rule.code}  {rule.name:<{width}}  {', '.join(marks)}")
        click.echo(f"       {read_page(rule).summary}")
    return 0
