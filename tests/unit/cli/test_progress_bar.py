"""The progress bar: only where somebody looks, what it shows, and that it goes."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli import progressbar
from cudalint.cli.progressbar import progress_bar
from cudalint.compile.progress import Progress, Untold


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drive(progress: Progress) -> None:
    progress.begin(3)
    progress.started("k/a.cu")
    progress.started("k/[red]b\x1b.cu")
    progress.ended("k/a.cu")


@pytest.mark.parametrize(
    ("stream", "environment"),
    [(io.StringIO(), {}), (Terminal(), {"CI": "true"}), (Terminal(), {"TERM": "dumb"})],
)
def test_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, environment: dict[str, str]
) -> None:
    monkeypatch.setattr(progressbar, "_SOON", 0.0)
    with progress_bar(stream, environment) as progress:
        assert isinstance(progress, Untold)
        drive(progress)
    assert stream.getvalue() == ""


def test_it_says_how_many_are_done_and_which_are_in_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progressbar, "_SOON", 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    with progress_bar(terminal, {}) as progress:
        drive(progress)
    text = terminal.getvalue()
    last = text.rindex("1/3")
    assert "compiling" in text
    assert "k/[red]b" in text[last:]
    assert "k/a.cu" not in text[last:]
    assert "b\x1b.cu" not in text
    assert "\x1b[3" not in text, "colours, though NO_COLOR is set"
    assert text.endswith("\x1b[2K"), "the line is not taken away"


def test_what_is_quick_shows_nothing_and_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with progress_bar(terminal, {}) as progress:
        drive(progress)
    assert terminal.getvalue() == ""


SLOW = """\
#!/bin/sh
case "$1" in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
  --list-gpu-code) echo sm_121; exit;;
esac
sleep 0.4
exit 1
"""


def test_on_a_terminal_of_its_own(tmp_path: Path) -> None:
    for name, text in (("nvcc", SLOW), ("gcc", "#!/bin/sh\nexit 1\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in ("a.cu", "b.cu", "c.cu"):
        (tmp_path / name).write_text("// one\n")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from cudalint.cli.main import main; main()", "."]
    command += ["--select", "CU501", "--no-cache", "-j", "1"]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "80"}
    child = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        seen += piece
    os.close(ours)
    stdout, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert b"compiling" in seen
    assert b"c.cu" in seen
    assert b"compiling" not in stdout
