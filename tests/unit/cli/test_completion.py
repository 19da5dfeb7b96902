"""Completion in a shell: scripts for three of them, and the words that they ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli.group import COMMANDS
from transcripts import install_program


def answer(instruction: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudalint"],
        env={**os.environ, "_CUDALINT_COMPLETE": instruction, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str) -> None:
    done = answer(f"{shell}_source")
    assert (done.returncode, done.stderr) == (0, "")
    assert "_CUDALINT_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cudalint ru", ["plain,rule", "plain,rules", "file,ru"]),
        ("cudalint --selec", ["plain,--select"]),
        ("cudalint --isol", ["plain,--isolated"]),
        ("cudalint kernels --isol", ["plain,--isolated"]),
        ("cudalint check --isol", ["plain,--isolated"]),
        ("cudalint tree --format j", ["plain,json"]),
        ("cudalint --compile al", ["plain,always"]),
        ("cudalint --output js", ["plain,json", "plain,json-lines"]),
    ],
)
def test_the_words_that_may_follow(line: str, expected: list[str]) -> None:
    count = str(len(line.split()) - 1)
    done = answer("bash_complete", COMP_WORDS=line, COMP_CWORD=count)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expected


def test_in_a_real_bash(tmp_path: Path) -> None:
    """The line of the README, and what Tab gives after it."""
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    line = 'eval "$(_CUDALINT_COMPLETE=bash_source cudalint)"'
    assert f"`{line}`" in readme
    install_program(tmp_path)
    script = f"""{line}
COMP_WORDS=(cudalint baseline wr)
COMP_CWORD=2
_cudalint_completion cudalint
echo "${{COMPREPLY[@]}}"
complete -p cudalint
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    words, registered = done.stdout.splitlines()
    assert (words, done.stderr) == ("write", "")
    assert registered == "complete -o nosort -F _cudalint_completion cudalint"


def test_every_command_is_offered() -> None:
    done = answer("bash_complete", COMP_WORDS="cudalint ", COMP_CWORD="1")
    assert {f"plain,{name}" for name in COMMANDS} <= set(done.stdout.splitlines())
