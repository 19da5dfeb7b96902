"""The page of the commands: what `--help` prints of each. A hook of mkdocs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from mkdocs.structure.files import File

from cudalint.cli.group import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_INTRODUCTION = "# Commands\n\nWhat `--help` prints.\n"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the page to those of docs/."""
    files.append(File.generated(config, "commands.md", content=command_page()))
    return files


def command_page() -> str:
    """A section for the program, each of its commands, and each of theirs."""
    sections = (f"## {name}\n\n```text\n{text}\n```\n" for name, text in _helps("cudalint", cli))
    return "\n".join([_INTRODUCTION, *sections])


def _helps(
    name: str, one: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    context = click.Context(one, info_name=name, parent=parent, max_content_width=90)
    yield context.command_path, one.get_help(context)
    if isinstance(one, click.Group):
        for child in one.list_commands(context):
            found = one.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _helps(child, found, context)
