"""What the documentation shows: every command line can be typed, and examples do what they say.

Guides with what commands print are run by test_guides.py and test_tutorial.py, the
examples of CI systems by test_ci_examples.py, code by test_api.py, test_plugins.py
and test_writing_a_rule.py, those of rules by tests/test_examples.py. Not run are the
lines for editors in docs/editors.md, but for their syntax: there is no editor here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt
from test_cli import BAD, GOOD, SPDX

from conftest import lint, write_files
from cudalint.cli.group import cli
from cudalint.settings.meaning import MEANING
from inside import inside
from transcripts import install_program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")} - {ROOT / "CHANGELOG.md"})
_PIECE = re.compile(r"\s(?:\||>|<|&&|\|\||;|2>\S*|\\)(?:\s|$)")


def blocks(page: Path, kind: str | None = None) -> Iterator[str]:
    """The blocks of code of a page, fenced or indented; those of one kind."""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block") and kind in (None, token.info):
            yield token.content


def spans(page: Path) -> Iterator[str]:
    """What stands in the text of a page as code."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.content


def command_lines(page: Path) -> Iterator[str]:
    """The command lines of cudalint on a page, without what is before and after in the shell."""
    for block in blocks(page):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"(?:\$ |.*\| |- run: |\s*run: )?(cudalint [^=].*)", line)
            if found and not re.match(r"cudalint( \S+)?: ", found[1]):
                yield _PIECE.split(found[1])[0]
    for span in spans(page):
        if re.match(r"cudalint \S+ \S", span):
            yield _PIECE.split(span)[0]


def test_every_command_line_can_be_typed() -> None:
    seen = 0
    for page in PAGES:
        for line in command_lines(page):
            words = shlex.split(line.split("   ")[0], comments=True)[1:]
            try:
                parse(cli, words)
            except click.ClickException as error:
                pytest.fail(f"{page.name}: {line}: {error.format_message()}")
            seen += 1
    assert seen > 60


def parse(command: click.Command, words: list[str]) -> None:
    """Have click parse a command line. Raises UsageError where it is none."""
    context = command.make_context("cudalint", list(words))
    if isinstance(command, click.Group):
        _, below, more = command.resolve_command(context, [*context._protected_args, *context.args])
        assert below is not None
        parse(below, more)


def test_what_is_typed_on_the_page_on_input_runs(tmp_path: Path) -> None:
    tree, home = tmp_path / "tree", tmp_path / "home"
    install_program(home)
    write_files(
        tree,
        {
            "kernels/a.cu": GOOD,
            "src/launch.cu": GOOD.replace("k(", "launch("),
            "src/deep/b.cuh": f"{SPDX}#pragma once\n",
            "changed.txt": "kernels/a.cu\n",
            "buffer": BAD,
        },
    )
    environment = {
        **os.environ,
        "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    setup = (
        "git init -q -b main && git add . && "
        "git -c user.name=A -c user.email=a@example.org commit -qm a && git switch -qc change && "
        "echo >> src/launch.cu && git -c user.name=A -c user.email=a@example.org commit -qam b"
    )
    lines = [line for block in blocks(ROOT / "docs/input.md", "") for line in block.splitlines()]
    lines = [line for line in lines if "cudalint" in line and not line.startswith("-")]
    elsewhere = ("pip install 'cudalint[watch]'", "cudalint --watch src/")  # test_watch.py
    typed = [line for line in lines if line not in elsewhere]
    assert len(typed) == len(lines) - len(elsewhere) == 4
    said = []
    for line in (setup, *typed):
        line = re.sub(r"\bcudalint\b", "cudalint --compile never --output concise", line)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        said.append((done.returncode, done.stderr))
        last = done.stdout
    assert said == [(0, "")] * 4 + [(1, "")]
    assert last.startswith("src/launch.cu:2:28: warning CU108 ")


def test_the_manifest_that_is_shown_is_one(tmp_path: Path) -> None:
    (text,) = [block for block in blocks(ROOT / "docs/tree.md") if block.startswith("[build]")]
    tomllib.loads(text)
    write_files(
        tmp_path,
        {
            "gb10/common/rms_norm.cu": GOOD,
            "gb10/common/extra/reduce.cu": GOOD.replace("k(", "reduce("),
            "gb10/qwen/nvfp4/rms_norm.cu": GOOD,
            "gb10/qwen/nvfp4/rms_norm_add.cu": GOOD.replace("k(", "rms_norm_add("),
            "gb10/qwen/nvfp4/KERNEL.toml": text,
        },
    )
    found = lint(tmp_path, select=("CU406",)).findings
    assert [finding.message for finding in found] == []


@pytest.mark.skipif(not (ROOT / "kernels").is_dir(), reason="the kernels are not here")
def test_the_shadow_that_is_shown_is_told_so() -> None:
    (shown,) = blocks(ROOT / "docs/tree.md", "text")
    assert shown in inside(ROOT, "tree", "kernels/", "--no-cache").out


def test_what_editors_are_told_can_be_read() -> None:
    page = ROOT / "docs/editors.md"
    settings = [json.loads(block) for block in blocks(page, "json")]
    assert settings[0]["glspc.server.command"] == "cudalint"
    (helix,) = (tomllib.loads(block) for block in blocks(page, "toml"))
    assert helix["language-server"]["cudalint"] == {"command": "cudalint", "args": ["server"]}


ELSEWHERE = ("plugins.md", "writing-a-rule.md")
"""Pages whose settings name plugins that are installed where those pages are tested."""
RECORDED = "version = 1\nkernels = []\n"


def test_settings_that_are_shown_are_settings(tmp_path: Path) -> None:
    """Blocks that are TOML and have a key of ours, though others may be misspelt."""
    seen = set()
    for page in PAGES:
        for block in blocks(page):
            try:
                keys = tomllib.loads(block).keys()
            except tomllib.TOMLDecodeError:
                continue
            if page.name in ELSEWHERE or not keys & MEANING.keys():
                continue
            write_files(tmp_path, {"cudalint.toml": block, "resources.toml": RECORDED})
            said = inside(tmp_path, "config")
            seen.add(page.name)
            assert (page.name, block, said.code, said.err) == (page.name, block, 0, "")
    assert len(seen) > 2
