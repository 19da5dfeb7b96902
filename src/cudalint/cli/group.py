"""The commands there are. `check` is meant when none is named."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

import cudalint

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "baseline": "cudalint.cli.baseline",
    "check": "cudalint.cli.check",
    "clean": "cudalint.cli.clean",
    "config": "cudalint.cli.config",
    "doctor": "cudalint.cli.doctor",
    "graph": "cudalint.cli.graph",
    "init": "cudalint.cli.init",
    "merge": "cudalint.cli.merge",
    "new": "cudalint.cli.new",
    "resources": "cudalint.cli.resources",
    "rule": "cudalint.cli.rule",
    "rules": "cudalint.cli.rules",
    "server": "cudalint.cli.server",
    "tree": "cudalint.cli.tree",
}
"""Each command's module, which is imported when the command is run."""

_OWN_OPTIONS = frozenset({"--help", "-h", "--version"})

_EPILOG = """\
Examples:

\b
  cudalint kernels/                       lint a tree, compile it if nvcc is there
  cudalint --select CU3 src/              the host's launch paths only
  cudalint a.cu --compile never           one file, nothing is compiled
  cudalint . --output sarif:cudalint.sarif --output text
  git diff --name-only -z main... | cudalint --files-from -
  cudalint --diff src/                    what --fix would mend
  cudalint --watch src/                   again on every change, until Ctrl-C
  cudalint baseline write                 put up with what there is, see what comes
  cudalint rule CU302                     what a rule is about, and how to fix it
  cudalint new HO001 no-asserts           the stub of a rule of one's own
  cudalint graph step src/                why a function is on a launch path, or not
  cudalint resources kernels/             registers, spills and occupancy of every kernel

Exit codes: 0 nothing to fix, 1 findings, 2 the run itself failed.
"""


class Group(click.Group):
    """Takes paths and options without a command as those of `check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `check` before arguments that start with no command."""
        if not args and ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if not args:
            raise click.UsageError("nothing to lint: give files or folders, or see --help")
        if args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, and the options and paths of `check`, which is meant without one."""
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        known = {item.value for item in found}
        check = self.get_command(ctx, "check")
        if check is not None:
            below = click.Context(check, info_name="check", parent=ctx, resilient_parsing=True)
            options = check.shell_complete(below, incomplete)
            found += [item for item in options if item.value not in known]
        if not incomplete.startswith("-"):
            found.append(CompletionItem(incomplete, type="file"))
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of `check`, which are what most people look for, then the commands."""
        check = self.get_command(ctx, "check")
        own = [parameter for parameter in self.params if parameter.name == "version"]
        parameters = [*(check.get_params(ctx) if check else ()), *own]
        records = (parameter.get_help_record(ctx) for parameter in parameters)
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record])
        self.format_commands(ctx, formatter)


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from cudalint.compile.toolchain import find_toolchains
    from cudalint.equipment import grammar_version, libclang_version

    found = [toolchain.version for toolchain in find_toolchains().found]
    click.echo(f"cudalint {cudalint.__version__}")
    click.echo(f"  {grammar_version()}")
    click.echo(f"  libclang {libclang_version()}")
    click.echo(f"  nvcc {', '.join(found) or 'none'}")
    context.exit()


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
    options_metavar="",
    subcommand_metavar="[OPTIONS] PATHS... | COMMAND ...",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the versions of cudalint, its grammar, libclang and nvcc, and exit.",
)
def cli() -> None:
    """Lint CUDA kernel trees: host stalls, hidden precisions, silent shadows, register spills.

    PATHS are files, folders or patterns; folders are searched for CUDA sources,
    what git ignores left out. No GPU is needed, and nothing of what is linted is
    ever executed.
    """
