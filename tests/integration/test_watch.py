"""`--watch` as a process: it lints again when it should, and ends when it is told to."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER, cudalint_command

from conftest import write_files
from cudalint.cli.watching import lint_on_changes
from inside import inside

WATCHING = "cudalint: note: watching for changes; Ctrl-C ends\n"
SECONDS = 60


class Session:
    """A watch that runs: its lines as they come, on stdout and stderr."""

    def __init__(self, root: Path, *arguments: str) -> None:
        command = cudalint_command("check", "--watch", *NEVER, "--jobs", "1", *arguments)
        self.process = subprocess.Popen(
            command,
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # What runs the tests may itself be one that the signal doesn't reach.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._threads = [
            threading.Thread(target=lines.extend, args=(stream,), daemon=True)
            for lines, stream in (
                (self.out, self.process.stdout),
                (self.err, self.process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def run(self, number: int) -> None:
        """Wait until the `number`-th run is done."""
        deadline = time.monotonic() + SECONDS
        while self.err.count(WATCHING) < number:
            assert self.process.poll() is None, self.err
            assert time.monotonic() < deadline, (self.out, self.err)
            time.sleep(0.05)

    def interrupt(self) -> int:
        """End it as Ctrl-C does; the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        return code


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"a.cu": BAD, "good.cu": GOOD, "out/x.cu": BAD})
    return tmp_path


def test_it_lints_again_when_something_has_changed(tree: Path) -> None:
    session = Session(tree, "--output-format", "concise", "--exclude", "out", ".")
    session.run(1)
    write_files(tree, {"a.cu": BAD, "notes.txt": "no source", "out/x.cu": GOOD})
    time.sleep(0.7)
    (tree / "draft").write_text(GOOD)
    (tree / "draft").rename(tree / "a.cu")
    session.run(2)
    write_files(tree, {"new/b.cu": BAD})
    session.run(3)
    write_files(tree, {"cudalint.toml": 'ignore = ["CU108", "CU110"]\n'})
    session.run(4)
    write_files(tree, {"cudalint.toml": 'ignore = ["CU108"]\n'})
    session.run(5)
    (tree / "new" / "b.cu").unlink()
    session.run(6)
    assert session.interrupt() == 0
    last = "; CU5 skipped (--compile never)\n"
    told = [line.partition(":")[0] if " CU108 " in line else line for line in session.out]
    assert told == [
        *("a.cu", f"2 kernels in 2 files{last}"),
        f"2 kernels in 2 files{last}",
        *("new/b.cu", f"3 kernels in 3 files{last}"),
        f"3 kernels in 3 files{last}",
        f"2 kernels in 2 files{last}",
    ]
    wrong = [line for line in session.err if line != WATCHING]
    assert [line.split(": ")[2] for line in wrong] == ["cudalint.toml:1:20"]


def test_a_terminal_is_cleared_and_the_exit_code_is_that_of_the_last_run(tree: Path) -> None:
    main, other = pty.openpty()
    process = subprocess.Popen(
        cudalint_command("--watch", *NEVER, "--color", "never", "a.cu"),
        cwd=tree,
        stdout=other,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(other)
    try:
        shown = ""
        while "CU5 skipped" not in shown:
            shown += os.read(main, 65536).decode()
        assert process.stderr is not None
        assert process.stderr.readline() == WATCHING
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 1
    finally:
        process.kill()
        process.communicate()
        os.close(main)
    assert shown.startswith("\x1b[2J")
    assert "a.cu:2:28: warning CU108" in shown


def test_interrupted_before_any_run_has_finished() -> None:
    def interrupted() -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lint_on_changes(interrupted, interrupted, (), {"paths": (), "files_from": ()})


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--fix", "."), "--watch can't go with --fix"),
        (("--diff", "."), "--watch can't go with --diff"),
        (("--add-suppressions", "--reason", "old"), "--watch can't go with --add-suppressions"),
        (("--show-files", "."), "--watch can't go with --show-files"),
        (("--shard", "1/2", "."), "--watch can't go with --shard"),
        (("-",), "--watch reads again what has changed, and stdin can be read once"),
        (("--files-from", "-"), "--watch reads again what has changed"),
        (("@-",), "--watch reads again what has changed"),
        (("--output-format", "json", "."), "--watch shows text or concise, and writes no other"),
        (("--output", "text:out.txt", "."), "--watch shows text or concise, and writes no other"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    arguments: tuple[str, ...], complaint: str, tree: Path
) -> None:
    said = inside(tree, "check", "--watch", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"cudalint: error: {complaint}")


def test_without_watchfiles_it_says_what_to_install(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    said = inside(tree, "--watch", ".")
    mend = "cudalint: error: --watch needs watchfiles: pip install 'cudalint[watch]'\n"
    assert said == (2, "", mend)


def test_nothing_that_could_be_watched(tree: Path) -> None:
    said = inside(tree, "--watch", "--isolated", "no/such/folder/a.cu")
    assert said.code == 2
    assert "cannot watch the files: no folder of theirs is there" in said.err
