"""Guides whose console blocks are run: the text of a guide, with what its commands print now.

A fenced block below `<!-- file: NAME -->` is written to that file; a `console`
block is a list of commands after `$ `, each followed by what it prints, run in
the order of the guide in one folder. `python tests/transcripts.py docs/x.md`
writes the guide anew. Where the commands need what earlier ones left in the shell,
`follow` runs them all in one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Timer

_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_LONGEST = 1500.0
"""Seconds that the commands of a guide may take in all."""
_PROGRAM = f"""#!{sys.executable}
from cudalint.cli.main import main
main()
"""


def install_program(folder: Path) -> None:
    """Put a `cudalint` that runs the working tree into a folder, which may be new."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "cudalint"
    program.write_text(_PROGRAM)
    program.chmod(0o755)


def rerun(guide: str) -> str:
    """The guide with the output that its commands have now."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        install_program(Path(home))
        environment = {
            **os.environ,
            "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
            "HOME": home,
            "CUDALINT_CACHE_DIR": f"{home}/cache",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            **{
                f"GIT_{who}_{what}": "x@example.org" if what == "EMAIL" else "X"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        environment = {k: v for k, v in environment.items() if k not in ("FORCE_COLOR",)}

        return _with_outputs(guide, Path(folder), lambda one: _output(one, folder, environment))


def follow(guide: str, folder: Path, environment: Mapping[str, str]) -> str:
    """The guide with what its commands print when one bash runs them all in `folder`."""
    shell = subprocess.Popen(
        ["bash", "--noprofile", "--norc"],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
    )
    too_late = Timer(_LONGEST, shell.kill)
    too_late.start()
    try:
        return _with_outputs(guide, folder, lambda one: _answer(shell, one))
    finally:
        too_late.cancel()
        shell.kill()
        shell.communicate()


def _answer(shell: subprocess.Popen[str], command: str) -> str:
    """What one command prints in a shell that stays; the end is marked by a NUL."""
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"{{ {command}\n}} </dev/null; printf '\\0'\n")
    shell.stdin.flush()
    printed = ""
    while not printed.endswith("\0"):
        character = shell.stdout.read(1)
        assert character, f"the shell ended in: {command}\n{printed}"
        printed += character
    return _line(printed[:-1])


def _with_outputs(guide: str, folder: Path, run: Callable[[str], str]) -> str:
    """Write the files of the guide into `folder`, and put in what `run` gives for a command."""

    def block(match: re.Match[str]) -> str:
        if match["file"]:
            Path(folder, match["file"]).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, match["file"]).write_text(match["text"])
        if match["kind"] != "console":
            return match[0]
        commands = re.findall(r"^\$ (.*)\n", match["text"], re.MULTILINE)
        ran = "".join(f"$ {one}\n{run(one)}" for one in commands)
        return f"```console\n{ran}```"

    return _BLOCK.sub(block, guide)


def _output(command: str, folder: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return _line(done.stdout)


def _line(printed: str) -> str:
    return printed + ("" if printed.endswith("\n") or not printed else "\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(rerun(Path(name).read_text()))
