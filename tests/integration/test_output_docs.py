"""docs/output.md shows what is printed, and names every format and every option of output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from cudalint.cli.output import output_options
from cudalint.reporters.formats import FORMATS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/output.md").read_text(encoding="utf-8")


def test_the_outputs_and_the_schema_are_fresh() -> None:
    command = [sys.executable, "tools/output_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_format_has_its_section() -> None:
    listed = re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE)
    named = {name for cell in listed for name in re.findall(r"\[([\w-]+)\]\(#", cell)}
    assert named == set(FORMATS)
    headings = {heading.lower() for heading in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)}
    assert {anchor for cell in listed for anchor in re.findall(r"\(#([\w-]+)\)", cell)} <= headings


def test_every_option_of_output_is_in_the_page() -> None:
    def command() -> None:
        """Hold the options."""

    output_options(command)
    names = [name for option in vars(command)["__click_params__"] for name in option.opts]
    assert len(names) > 8
    for name in names:
        assert f"`{name}" in PAGE or f" {name}" in PAGE, name
