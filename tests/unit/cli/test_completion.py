"""Completion in a shell: scripts for three of them, and the words that they ask for."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli.group import COMMANDS
from transcripts import install_program

README = (Path(__file__).parents[3] / "README.md").read_text()


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
    line = 'eval "$(_CUDALINT_COMPLETE=bash_source cudalint)"'
    assert f"`{line}`" in README
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


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_in_a_real_fish(tmp_path: Path) -> None:
    line = "_CUDALINT_COMPLETE=fish_source cudalint | source"
    assert f"`{line}`" in README
    install_program(tmp_path)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{line}; complete -C 'cudalint baseline wr'"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout.split()[:1], done.stderr) == (["write"], "")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_in_a_real_zsh(tmp_path: Path) -> None:
    """At a terminal, where Tab is pressed."""
    line = 'eval "$(_CUDALINT_COMPLETE=zsh_source cudalint)"'
    assert "`zsh_source`" in README
    install_program(tmp_path)
    (tmp_path / ".zshrc").write_text(f"PS1='> '\nautoload -U compinit; compinit -D -u\n{line}\n")
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "ZDOTDIR": str(tmp_path),
        "TERM": "dumb",
    }
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-i"], environment)
    try:
        _read_until(terminal, b"> ")
        os.write(terminal, b"cudalint baseline wr\t")
        assert b"baseline write" in _read_until(terminal, b"write")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def _read_until(terminal: int, awaited: bytes) -> bytes:
    """What is shown, up to what is awaited; fails where that does not come within a minute."""
    shown = b""
    while awaited not in shown:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, shown
        shown += os.read(terminal, 4096)
    return shown


def test_every_command_is_offered() -> None:
    done = answer("bash_complete", COMP_WORDS="cudalint ", COMP_CWORD="1")
    assert {f"plain,{name}" for name in COMMANDS} <= set(done.stdout.splitlines())
