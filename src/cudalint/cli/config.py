"""`cudalint config`: the settings in force, and where each came from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.rule import Rule
    from cudalint.settings.inforce import SettingInForce
    from cudalint.settings.load import Loaded

_EPILOG = """\
Examples:

\b
  cudalint config                           what holds in this folder
  cudalint config --for src/a.cu            what holds for a file
  cudalint config cold-functions            one key: what it means, its value and default
  cudalint config --schema > schema.json    a JSON schema of cudalint.toml, for editors
"""


@click.command("config", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("key", required=False)
@click.option(
    "--for",
    "file",
    metavar="PATH",
    default=".",
    show_default=True,
    help="The file or folder whose settings are asked for.",
)
@click.option("--config", metavar="FILE", help="Take the settings of this file.")
@click.option("--isolated", is_flag=True, help="Take no settings file.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How it is written.",
)
@click.option("--schema", is_flag=True, help="Print the JSON schema of cudalint.toml instead.")
def command(**options: Any) -> int:
    """Show the settings in force and where each came from, or explain one KEY.

    KEY is spelt as in cudalint.toml; rules.CU501 shows what is set for one rule.
    """
    from cudalint.registry import installed_rules, known_rules
    from cudalint.settings.check import check_selectors, rule_options
    from cudalint.settings.inforce import settings_in_force
    from cudalint.settings.load import load_settings
    from cudalint.settings.origin import SettingsError
    from cudalint.settings.select import Overrides

    if options["schema"]:
        from cudalint.settings.schema import schema

        # A schema is for any settings file, so for any plugin that one may name.
        document = msgspec.json.encode(schema(installed_rules().rules))
        click.echo(msgspec.json.format(document, indent=2).decode())
        return 0
    file: str = options["file"]
    if not Path(file).exists():
        raise click.UsageError(f"there is no '{file}'")
    try:
        loaded = load_settings(
            (file,), Path.cwd(), config=options["config"], isolated=options["isolated"]
        )
        known = known_rules(loaded.settings.plugins)
        check_selectors(loaded, Overrides(), known)
        rule_options(loaded.settings, loaded.origin, known)
    except SettingsError as error:
        complain(str(error))
        return 2
    for problem in known.problems:
        complain(problem.message)
    code = 0 if known.complete else 2
    rows = list(settings_in_force(loaded))
    if options["key"] is not None:
        rows = [row for row in rows if _is_below(row, options["key"])]
    if options["format_"] == "json":
        values = [{"key": row.name, "value": row.value, "from": row.place} for row in rows]
        click.echo(msgspec.json.format(msgspec.json.encode(values), indent=2).decode())
        return code
    if options["key"] is not None:
        lines = list(_explained(options["key"], rows))
    else:
        lines = [*_table(rows), *_rules(loaded, file, known.rules)]
    click.echo("\n".join(lines))
    return code


def _is_below(row: SettingInForce, key: str) -> bool:
    from cudalint.settings.meaning import MEANING
    from cudalint.settings.origin import did_you_mean

    first = key.partition(".")[0]
    if first not in MEANING:
        raise click.UsageError(f"there is no key '{key}'{did_you_mean(first, list(MEANING))}")
    return row.name == key or row.name.startswith(f"{key}.")


def _table(rows: list[SettingInForce]) -> Iterator[str]:
    """A line for each; long values are cut, as asking for the key shows them."""
    from cudalint.reporters.visible import visible

    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        value = visible(_json(row.value))
        shown = value if len(value) <= _WIDEST else f"{value[:_WIDEST]}…"
        yield f"{visible(row.name):<{width}} = {shown}  ({row.place or 'default'})"


_WIDEST = 60


def _explained(key: str, rows: list[SettingInForce]) -> Iterator[str]:
    from cudalint.reporters.visible import visible
    from cudalint.settings.inforce import default_of
    from cudalint.settings.meaning import MEANING

    first = key.partition(".")[0]
    yield f"{first}: {MEANING[first]}"
    for row in rows:
        yield f"{visible(row.name)} = {visible(_json(row.value))}  ({row.place or 'default'})"
    if not rows:
        yield f"nothing is set for {visible(key)}"
    if default_of(first) != {}:
        yield f"default: {_json(default_of(first))}"


def _rules(loaded: Loaded, file: str, every: tuple[type[Rule], ...]) -> Iterator[str]:
    """Which rules that makes, for a file."""
    from cudalint.settings.select import Overrides, PerFileIgnores, selected_rules

    selected = selected_rules(every, loaded.settings, Overrides())
    yield ""
    yield f"{len(selected)} of {len(every)} rules run"
    if Path(file).is_file():
        path = os.path.relpath(file, loaded.root)
        ignored = PerFileIgnores(loaded.settings, every).ignored(path)
        codes = [rule.code for rule in selected if rule.code in ignored]
        if codes:
            yield f"not reported in {file}: {', '.join(codes)} (per-file-ignores)"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
