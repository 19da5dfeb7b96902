"""Completion in a shell: scripts for three of them, and the words that they ask for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cudalint.cli.group import COMMANDS


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


def test_every_command_is_offered() -> None:
    done = answer("bash_complete", COMP_WORDS="cudalint ", COMP_CWORD="1")
    assert {f"plain,{name}" for name in COMMANDS} <= set(done.stdout.splitlines())
