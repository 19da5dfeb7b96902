"""Guides whose console blocks are run: the text of a guide, with what its commands print now.

A fenced block below `<!-- file: NAME -->` is written to that file; a `console`
block is a list of commands after `$ `, each followed by what it prints, run in
the order of the guide in one folder. `python tests/transcripts.py docs/x.md`
writes the guide anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
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

        def block(match: re.Match[str]) -> str:
            if match["file"]:
                Path(folder, match["file"]).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, match["file"]).write_text(match["text"])
            if match["kind"] != "console":
                return match[0]
            commands = re.findall(r"^\$ (.*)\n", match["text"], re.MULTILINE)
            ran = "".join(f"$ {one}\n{_output(one, folder, environment)}" for one in commands)
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
    return done.stdout + ("" if done.stdout.endswith("\n") or not done.stdout else "\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(rerun(Path(name).read_text()))
