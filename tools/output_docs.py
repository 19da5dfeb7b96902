"""Writes docs/output.schema.json, and the outputs shown in docs/output.md. `--check` only compares.

python tools/output_docs.py [--check]

In the page, a command in a comment (`<!-- $ cudalint ... -->`) is run in a copy
of tests/fixtures/output-tree, and what it prints is the block that follows.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cudalint.reporters.json import Document

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "output.md"
SCHEMA = ROOT / "docs" / "output.schema.json"
TREE = ROOT / "tests" / "fixtures" / "output-tree"
BLOCK = re.compile(r"(<!-- \$ (.+?) -->\n\n(```+)\w+\n)(.*?)(^\3\n)", re.DOTALL | re.MULTILINE)


def schema() -> str:
    """The JSON schema of `--output-format json`."""
    data = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cudalint's JSON output",
        **msgspec.json.schema(Document),
    }
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


def page() -> str:
    """The page with each output as it is now."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(TREE, tree)
        return BLOCK.sub(lambda block: block[1] + printed(block[2], tree) + block[5], read(PAGE))


def printed(command: str, tree: Path) -> str:
    """What a command of the page prints to stdout; `| head -N` cuts it."""
    command, _, cut = command.partition(" | head -")
    program, *arguments = shlex.split(command)
    assert program == "cudalint", command
    main = [sys.executable, "-c", "from cudalint.cli.main import main; main()"]
    done = subprocess.run([*main, *arguments], cwd=tree, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{command}: {done.stderr}"
    lines = done.stdout.splitlines()
    if cut and len(lines) > int(cut):
        lines = [*lines[: int(cut)], "..."]
    return "".join(f"{line}\n" for line in lines)


def read(file: Path) -> str:
    """A file's text, "" where there is none."""
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def written() -> Iterator[tuple[Path, str]]:
    """The files with what should stand in them."""
    yield SCHEMA, schema()
    yield PAGE, page()


def main() -> int:
    """Write or compare. Returns the exit code."""
    stale = 0
    for file, text in written():
        if "--check" not in sys.argv[1:]:
            file.write_text(text, encoding="utf-8")
        elif read(file) != text:
            print(
                f"{file.relative_to(ROOT)} is not what is printed: run `make docs`", file=sys.stderr
            )
            stale = 1
    return stale


if __name__ == "__main__":
    raise SystemExit(main())
