"""The options that mend findings, and what `check` does for them.

The fixes themselves are `cudalint.fixes`.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.finding import Finding
    from cudalint.fixes.passes import Lint, Mended
    from cudalint.run import Run
    from cudalint.runner import Request

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--fix", is_flag=True, help="Mend what has a safe fix, in the files."),
    click.option(
        "--unsafe-fixes",
        is_flag=True,
        help="With --fix or --diff: also make fixes that may change what the program does.",
    ),
    click.option(
        "--diff",
        is_flag=True,
        help="Show as a diff what --fix would change; write nothing. Exit 1 if there is any.",
    ),
    click.option("--show-fixes", is_flag=True, help="With --fix or --diff: list what was mended."),
)


def fix_options(command: F) -> F:
    """Give a command the options that mend findings."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_fix_options(options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that can't go together."""
    fix, diff = options["fix"], options["diff"]
    if fix and diff:
        raise click.UsageError("--fix writes and --diff writes nothing: give one of them")
    for name in ("unsafe_fixes", "show_fixes"):
        if options[name] and not (fix or diff):
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --fix or --diff only")
    if (fix or diff) and options["shard"] is not None:
        raise click.UsageError("fixes can't be made with --shard: it depends on the files' content")
    if fix and "-" in options["paths"]:
        raise click.UsageError("--fix writes files, and '-' is none: --diff shows the changes")
    if diff and (options["output"] or options["output_format"] or options["output_file"]):
        raise click.UsageError("--diff writes a diff and no report: leave --output options out")


def run_and_fix(request: Request, lint: Lint, options: Mapping[str, Any]) -> Run:
    """Lint, mend, write, and lint again what then stands; what was done is said on stderr."""
    from cudalint.cli.writing import with_notes, write_files
    from cudalint.fixes.passes import mend

    mended = mend(request, lint, unsafe=options["unsafe_fixes"])
    written, notes = write_files(mended.first.root, mended.changed)
    finished = lint(request) if written else mended.first
    _tell(mended, written, "fixed", options)
    return with_notes(finished, (*mended.notifications, *notes))


def show_diff(request: Request, lint: Lint, options: Mapping[str, Any]) -> tuple[Run, int]:
    """Write the diff of what fixing would change to stdout.

    Gives the run before any fix, and the exit code. Raises OutputError.
    """
    from cudalint.cli.writing import with_notes
    from cudalint.fixes.passes import mend

    mended = mend(request, lint, unsafe=options["unsafe_fixes"])
    for line in _diff(mended, options):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    _tell(mended, set(mended.contents), "would fix", options)
    run = with_notes(mended.first, mended.notifications)
    changes = bool(mended.contents) and not options["exit_zero"]
    return run, 2 if run.exit_code == 2 else int(changes)


def _diff(mended: Mended, options: Mapping[str, Any]) -> Iterator[bytes]:
    from cudalint.cli.writing import shown
    from cudalint.fixes.patch import unified
    from cudalint.reporters.colour import painter, wants_colour
    from cudalint.reporters.visible import visible

    terminal = sys.stdout.isatty()
    colour = wants_colour(options["color"], os.environ, terminal)
    paint = painter(colour)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for path, (old, new) in mended.changed.items():
        for line in unified(shown(path, mended.first.root), old, new):
            if not (terminal or colour):
                yield line
                continue
            # What a terminal shows must not act on it.
            text = line.decode("utf-8", "surrogateescape").rstrip("\n")
            safe = visible(text.removesuffix("\r"))
            style = "bold" if text.startswith(("--- ", "+++ ")) else styles.get(text[:1])
            yield f"{paint(safe, style) if style else safe}\n".encode()


def _tell(mended: Mended, paths: set[str], verb: str, options: Mapping[str, Any]) -> None:
    """Say what was mended in the files at `paths`, file by file on request."""
    counts: dict[str, Counter[str]] = {}
    for finding in mended.fixed:
        for path in _edited(finding) & paths:
            counts.setdefault(path, Counter())[finding.code] += 1
    if not counts or options["quiet"]:
        return
    from cudalint.cli.writing import shown
    from cudalint.reporters.summary import counted

    number = sum(bool(_edited(finding) & paths) for finding in mended.fixed)
    said = f"{verb} {counted(number, 'finding')} in {counted(len(counts), 'file')}"
    complain(said, "note")
    if options["show_fixes"]:
        names = {entry.rule.code: entry.rule.name for entry in mended.first.rules}
        for path in sorted(counts):
            for code, times in sorted(counts[path].items()):
                place = shown(path, mended.first.root)
                complain(f"{place}: {times} x {code} ({names[code]})", "note")


def _edited(finding: Finding) -> set[str]:
    """The files that the fix of a finding changes."""
    return {edit.span.path for edit in finding.fix.edits} if finding.fix else set()
