"""`cudalint init`: the files that a project starts with."""

from __future__ import annotations

from pathlib import Path

import click

from cudalint.cli.main import complain

_EPILOG = """\
Examples:

\b
  cudalint init                           a cudalint.toml in which every key is explained
  cudalint init --pre-commit              with the stanza that runs cudalint before a commit
"""


@click.command("init", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.option("--pre-commit", is_flag=True, help="Write .pre-commit-config.yaml too.")
def command(pre_commit: bool) -> int:
    """Write a commented cudalint.toml into this folder, and pre-commit's stanza on request.

    A file that is there is never changed; what would have been written into it is
    printed instead.
    """
    from cudalint.settings.starting import PRE_COMMIT, starting_settings

    done = _write(Path("cudalint.toml"), starting_settings())
    if not pre_commit:
        return 0 if done else 2
    file = Path(".pre-commit-config.yaml")
    if file.exists():
        click.echo(f"{file} is there already; put this below its 'repos:':\n\n{PRE_COMMIT}")
        return 0 if done else 2
    return 0 if _write(file, f"repos:\n{PRE_COMMIT}") and done else 2


def _write(file: Path, text: str) -> bool:
    """Write a new file; whether that was done."""
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        complain(f"{file} is there already, and was left as it is")
        return False
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        return False
    click.echo(f"wrote {file}")
    return True
