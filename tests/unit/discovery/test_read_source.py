"""read_source: what can't be analysed gets a problem, and never blocks or fills the memory."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cudalint.discovery.read import read_source


def problem(file: Path, limit: int = 1000) -> str | None:
    return read_source(str(file), "x.cu", limit=limit).problem


@pytest.mark.parametrize(
    "data",
    [b"", b"int x;\n", b"\xef\xbb\xbfint x;\r\n", "// é 😀\n".encode(), b"\x0c\x1b[0m no newline"],
)
def test_text_is_read_as_it_is(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.cu"
    file.write_bytes(data)
    source = read_source(str(file), "sub/x.cu", limit=len(data), requested=False)
    assert (source.path, source.data, source.problem) == ("sub/x.cu", data, None)
    assert not source.requested


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"int x;\0", "binary data (a NUL byte at offset 6)"),
        (b"\x7fELF\x02\x01\x01\x00\x80", "binary data (a NUL byte at offset 7)"),
        ("int x;".encode("utf-16"), "UTF-16, not UTF-8"),
        (b"\xfe\xff\x00x", "UTF-16, not UTF-8"),
        ("int x;".encode("utf-16-le"), "binary data (a NUL byte at offset 1)"),
        ("// é".encode("latin-1"), "not UTF-8 (byte 0xe9 at offset 3)"),
        (b"\xef\xbb\xbf// \xc3", "not UTF-8 (byte 0xc3 at offset 6)"),
        (b"x" * 1001, "1001 bytes, more than max-file-size (1000)"),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, expected: str) -> None:
    file = tmp_path / "x.cu"
    file.write_bytes(data)
    source = read_source(str(file), "x.cu", limit=1000)
    assert (source.data, source.problem) == (b"", expected)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    with file.open("wb") as stream:
        stream.truncate(50_000_000_000)
    assert problem(file) == "50000000000 bytes, more than max-file-size (1000)"


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    os.mkfifo(file)
    assert problem(file) == "a named pipe, not a regular file"


def test_devices_and_folders(tmp_path: Path) -> None:
    (tmp_path / "null.cu").symlink_to("/dev/null")
    assert problem(tmp_path / "null.cu") == "a device, not a regular file"
    assert problem(tmp_path) == "a folder, not a regular file"


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.cu")
        assert problem(tmp_path / "x.cu") == "No such device or address"


def test_a_vanished_file(tmp_path: Path) -> None:
    assert problem(tmp_path / "gone.cu") == "it vanished"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    file.write_text("int x;")
    file.chmod(0)
    assert problem(file) == "Permission denied"
