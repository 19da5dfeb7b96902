"""Diffs, held to what `git apply` makes of them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.fixes.patch import unified


def applied(name: bytes, old: bytes, new: bytes) -> bytes:
    """The content of a file called `name` after git applied the diff of `old` and `new`."""
    diff = b"".join(unified(os.fsdecode(name), old, new))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        file.write_bytes(old)
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": folder, "GIT_CONFIG_GLOBAL": ""}
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(
            command, input=diff, cwd=folder, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, (done.stderr, diff)
        return file.read_bytes()


NAMES = [b"a.cu", b"with space.cu", b'quote".cu', b"back\\slash.cu", b"line\nend.cu", b"\xff.cu"]


@pytest.mark.parametrize("name", [*NAMES, "größe.cu".encode(), b"tab\t.cu", b"bell\a.cu"])
def test_any_name(name: bytes) -> None:
    assert applied(name, b"a\nb\n", b"a\nc\n") == b"a\nc\n"


def test_nothing_changed() -> None:
    assert list(unified("a.cu", b"a\n", b"a\n")) == []


pieces = st.lists(
    st.sampled_from(
        [b"a\n", b"b\n", b"c\r\n", b"\n", b"\r", b"\xff\n", b"\\ No\n", b"d", b"--x\n"]
    ),
    max_size=30,
).map(b"".join)


@settings(max_examples=60)
@given(pieces.filter(bool), pieces.filter(bool))
def test_any_content(old: bytes, new: bytes) -> None:
    if old != new:
        assert applied(b"a.cu", old, new) == new
