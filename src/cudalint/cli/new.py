"""`cudalint new`: the stub of a rule, for a plugin or for cudalint itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.stub.place import Written

_KINDS = ("file", "project", "tree", "compile")

_EPILOG = """\
Examples:

\b
  cudalint new HO001 double-literal --into house-rules    a new plugin with one rule
  cudalint new HO002 kernel-name                          in the plugin's folder: one rule more
  cudalint new HO003 slow-step --kind project             one that looks across files
"""


@click.command("new", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("code")
@click.argument("name")
@click.option(
    "--into",
    "folder",
    metavar="FOLDER",
    default=".",
    show_default=True,
    type=click.Path(path_type=Path, readable=False),
    help="The plugin's folder, which may be absent. A new plugin is called like it.",
)
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="file",
    show_default=True,
    help="What the rule looks at: one file, all of them, a kernel tree, what nvcc says.",
)
def command(code: str, name: str, folder: Path, kind: str) -> int:
    """Write the stub of a rule: code, name, page, examples, check, and tests.

    The tests fail until the rule finds what its example marks. Where the folder
    holds no plugin, one is begun; in cudalint's own repository the rule is one of
    its own, and the tests of all rules are its tests. No file that is there is
    changed. docs/plugins.md says how to go on.
    """
    from cudalint.settings.origin import SettingsError
    from cudalint.stub.place import StubError, stub_files
    from cudalint.stub.text import Stub

    try:
        written = stub_files(Stub(code, name, kind), folder)
    except (StubError, SettingsError) as error:
        complain(str(error))
        return 2
    for path, text in written.files.items():
        try:
            _write(folder / path, text)
        except OSError as error:
            complain(f"cannot write {folder / path}: {error.strerror}")
            return 2
        click.echo(f"wrote {folder / path}")
    _say_what_next(written, folder)
    return 0


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as stream:
        stream.write(text)


def _say_what_next(written: Written, folder: Path) -> None:
    if written.stanza:
        click.echo(f"put this into {folder / 'pyproject.toml'}:\n\n{written.stanza}")
    if not written.name:
        click.echo("fill in what says TODO; tests/test_examples.py fails until then")
        return
    click.echo(
        "fill in what says TODO; pytest fails until then. To use it:\n"
        f"  pip install -e {folder}\n"
        f'  plugins = ["{written.name}"]    in cudalint.toml'
    )
