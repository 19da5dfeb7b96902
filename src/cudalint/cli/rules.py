"""`cudalint rules`: the list of all rules."""

from __future__ import annotations

import click

_EPILOG = """\
Examples:

\b
  cudalint rules                          all of them
  cudalint rules | grep -A1 CU3           those of launch paths
"""


@click.command("rules", epilog=_EPILOG)
def command() -> int:
    """List the rules: code, name, level, what each reports.

    Those of installed plugins are among them; they run where 'plugins' names theirs.
    """
    from cudalint.cli.main import complain
    from cudalint.registry import installed_rules
    from cudalint.rulepage import page_of

    known = installed_rules()
    for problem in known.problems:
        complain(problem.message, "warning")
    width = max((len(rule.name) for rule in known.rules), default=0)
    for rule in known.rules:
        marks = [rule.level.value]
        if rule.fix.value != "none":
            marks.append("fix" if rule.fix.value == "safe" else "unsafe fix")
        if rule.preview:
            marks.append("preview")
        if not rule.default:
            marks.append("off by default")
        if rule.code in known.owners:
            marks.append(f"plugin {known.owners[rule.code].name}")
        click.echo(f"{rule.code}  {rule.name:<{width}}  {', '.join(marks)}")
        click.echo(f"       {page_of(rule).summary}")
    return 0
