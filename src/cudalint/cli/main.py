"""The entry point: runs the command line, and turns every way to end into an exit code.

0 nothing to fix, 1 findings, 2 the run itself failed, 130 interrupted. An error
of the user is one line on stderr; no traceback is shown without `--verbose`.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

from cudalint.cli.streams import OutputError, prepare


def main() -> None:
    """Run `cudalint` with the process's arguments, and exit."""
    # The records of a run hold no cycles and live to its end: looking for garbage
    # would take a seventh of a short run.
    gc.disable()
    prepare()
    try:
        code = _run(sys.argv[1:])
        _flush()
    except KeyboardInterrupt:
        _end_at_once(130)
    except SystemExit as end:
        _flush()
        _end_at_once(end.code if isinstance(end.code, int) else 2)
    except BrokenPipeError:
        # The reader has what it wanted (`cudalint | head`): that is no failure of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OutputError as error:
        complain(f"cannot write to stdout: {error}")
        code = 2
    # Taking the interpreter apart would take as long as reading a file.
    _end_at_once(code)


def _flush() -> None:
    """Hand on what was printed; a language server has closed its stream itself."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def _run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    import click

    from cudalint.cli.group import cli

    try:
        code = cli.main(arguments, prog_name="cudalint", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        complain(error.format_message())
        return 2
    except (BrokenPipeError, OutputError):
        raise
    except Exception as error:  # noqa: BLE001  (a fault of ours is still one line)
        return _internal_error(error, verbose="--verbose" in arguments)
    return code if isinstance(code, int) else 0


def complain(message: str, level: str = "error") -> None:
    """Say one line on stderr."""
    from cudalint.reporters.visible import visible

    # With a full disk behind stderr there is nobody to tell; the exit code says it.
    with suppress(OSError):
        print(f"cudalint: {level}: {visible(message)}", file=sys.stderr, flush=True)


def internal_error(error: Exception) -> str:
    """What is said of a fault of ours."""
    name = type(error).__name__
    return f"internal error: {name}: {error}" if str(error) else f"internal error: {name}"


def _internal_error(error: Exception, *, verbose: bool) -> int:
    complain(internal_error(error) + ("" if verbose else " (--verbose shows where)"))
    if verbose:
        import traceback

        traceback.print_exception(error)
    return 2


def _end_at_once(code: int) -> None:
    """Leave without waiting for threads; the stages have ended their child processes."""
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)
