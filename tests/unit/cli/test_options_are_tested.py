"""Every option of every command is used by a test, and its help teaches by examples."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cudalint.cli.group import cli
from invocations import option_uses

TESTS = Path(__file__).parents[2]
_MAY_RUN_US = re.compile(r"cudalint\.cli|\binside\b|\bforked\b|\btest_cli\b|\"cudalint\"")


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something itself, by its words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))
    else:
        yield " ".join(path), command


def options() -> set[tuple[str, str]]:
    """Every option as it may be written, with its command."""
    return {
        (name, spelt)
        for name, command in commands()
        for option in command.params
        if isinstance(option, click.Option)
        for spelt in (*option.opts, *option.secondary_opts)
    }


def files_of_tests() -> Iterator[Path]:
    for file in sorted(TESTS.rglob("*.py")):
        if "fixtures" not in file.parts and _MAY_RUN_US.search(file.read_text()):
            yield file


def test_every_option_is_used_by_a_test() -> None:
    used = option_uses(cli, files_of_tests())
    assert sorted(options() - used) == []


def uses(tmp_path: Path, text: str) -> set[tuple[str, str]]:
    (tmp_path / "test_it.py").write_text(f"from inside import inside\n{text}")
    known = TESTS / "inside.py"
    return option_uses(cli, [known, tmp_path / "test_it.py"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test(t):\n    inside(t, '--strict', '.')\n", {("check", "--strict")}),
        ("def test(t):\n    inside(t, 'doctor', '--format', 'json')\n", {("doctor", "--format")}),
        (
            "def test(t):\n    inside(t, 'baseline', 'write', '--jobs=2')\n",
            {("baseline", "write", "--jobs")},
        ),
        (
            "NEVER = ('--compile', 'never')\n"
            "@parametrize(('a', 'b'), [(('--fix',), 1), (('-q',), 2)])\n"
            "def test(t, a, b):\n    inside(t, *NEVER, *a)\n",
            {("check", "--compile"), ("check", "--fix"), ("check", "-q")},
        ),
        (
            "def tree(t, *more):\n    return inside(t, 'tree', *more)\n"
            "def test(t):\n    for one in ('--isolated', '--no-cache'):\n        tree(t, one)\n",
            {("tree", "--isolated"), ("tree", "--no-cache")},
        ),
        ("def test(t):\n    # inside(t, '--strict')\n    pass\n", set()),
        ("def test(t):\n    assert '--strict' in inside(t, '--help')\n", set()),
        ("def test(t):\n    other(t, '--strict')\n    x = ('--strict',)\n", set()),
        ("def test(t):\n    inside(t, 'doctor', '--strict')\n", set()),
        ("def test(t):\n    inside(t, '--config')\n", set()),
    ],
)
def test_what_counts_as_a_use(text: str, found: set[tuple[str, ...]], tmp_path: Path) -> None:
    text = text.replace("@parametrize", "@pytest.mark.parametrize")
    told = {(*command.split(), spelt) for command, spelt in uses(tmp_path, text)}
    assert told == found


def examples(command: click.Command) -> list[str]:
    """The command lines that a help shows: as they are typed, without what they are for."""
    lines = (command.epilog or "").splitlines() + (command.help or "").splitlines()
    found = (re.match(r"  (?:.*\| )?(cudalint .*?)(?:   .*)?$", line) for line in lines)
    return [match[1] for match in found if match]


@pytest.mark.parametrize(("name", "command"), [("", cli), *commands()])
def test_every_help_has_examples_that_can_be_typed(name: str, command: click.Command) -> None:
    shown = examples(command)
    assert shown, f"the help of '{name}' has no examples"
    assert any(line.startswith(f"cudalint {name}".rstrip()) for line in shown)
    for line in shown:
        parsed(cli, shlex.split(re.split(" [<>|] ", line)[0])[1:])


def parsed(command: click.Command, words: list[str]) -> None:
    """Have click parse a command line. Raises UsageError where it is none."""
    context = command.make_context("cudalint", list(words), resilient_parsing=False)
    if isinstance(command, click.Group):
        known = vars(context)
        # So it is called from click 8.2 on, and before that.
        rest = [*known.get("_protected_args", known.get("protected_args")), *context.args]
        _, below, more = command.resolve_command(context, rest)
        assert below is not None
        parsed(below, more)
