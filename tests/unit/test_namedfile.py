"""Reading a file that an option names: what it is, how large it may be, and that it ends."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cudalint import namedfile
from cudalint.namedfile import read_named, read_stdin


def test_a_regular_file_within_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(b"a.cu\n")
    assert read_named(file, limit=5) == b"a.cu\n"
    with pytest.raises(OSError, match="5 bytes, more than 4"):
        read_named(file, limit=4)


def test_a_device_is_not_read() -> None:
    for pipes in (False, True):
        with pytest.raises(OSError, match="a device, not a regular file"):
            read_named("/dev/zero", pipes=pipes)


def test_what_is_absent_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_named(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_named(tmp_path)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_named_pipe_only_where_it_may_be(fifo: Path) -> None:
    with pytest.raises(OSError, match="a named pipe, not a regular file"):
        read_named(fifo)


def test_a_named_pipe_without_a_writer_is_given_up(
    fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namedfile, "_WRITER_SECONDS", 0.1)
    with pytest.raises(OSError, match="nobody writes to"):
        read_named(fifo, pipes=True)


@pytest.mark.parametrize("data", [b"", b"a.cu\n", b"x" * 200_000])
def test_a_named_pipe_is_read_to_its_end(fifo: Path, data: bytes) -> None:
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    assert read_named(fifo, pipes=True) == data
    writer.join()


def test_an_endless_pipe_is_read_up_to_the_bound() -> None:
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        name = f"/dev/fd/{writer.stdout.fileno()}"
        with pytest.raises(OSError, match="more than 100000 bytes"):
            read_named(name, limit=100_000, pipes=True)
        writer.kill()


@pytest.mark.parametrize("data", [b"", b"a.cu\n"])
def test_an_inherited_pipe_whose_writer_is_done(data: bytes) -> None:
    """As `<(git diff --name-only)` gives it, with and without changes."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    assert read_named(f"/dev/fd/{reading}", pipes=True) == data
    os.close(reading)


def test_stdin_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a.cu\n")))
    with pytest.raises(OSError, match=re.escape("more than 3 bytes")):
        read_stdin(3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a.cu\n")))
    assert read_stdin(5) == b"a.cu\n"
