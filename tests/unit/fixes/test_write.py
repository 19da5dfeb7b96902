"""Writing changed files: whole or not at all, and never over somebody else's change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.fixes.links import leads_out
from cudalint.fixes.write import write_changed


def test_content_and_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_bytes(b"old")
    file.chmod(0o754)
    assert write_changed(tmp_path, {"a.cu": (b"old", b"new\r\n\xff")}) == {}
    assert file.read_bytes() == b"new\r\n\xff"
    assert file.stat().st_mode & 0o777 == 0o754
    assert [path.name for path in tmp_path.iterdir()] == ["a.cu"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_bytes(b"old")
    (tmp_path / "a.cu").symlink_to("real.txt")
    assert write_changed(tmp_path, {"a.cu": (b"old", b"new")}) == {}
    assert (tmp_path / "a.cu").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"new"


def test_what_can_not_be_written_says_why_and_the_rest_is(tmp_path: Path) -> None:
    for name in ("changed.cu", "locked.cu", "fine.cu", "done.cu"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "changed.cu").write_bytes(b"mine")
    (tmp_path / "done.cu").write_bytes(b"new")
    (tmp_path / "locked.cu").chmod(0o444)
    os.mkfifo(tmp_path / "pipe.cu")
    names = ("changed.cu", "done.cu", "fine.cu", "gone.cu", "locked.cu", "pipe.cu")
    assert write_changed(tmp_path, dict.fromkeys(names, (b"old", b"new"))) == {
        "changed.cu": "it changed since it was read",
        "gone.cu": "it vanished",
        "locked.cu": "it is read-only",
        "pipe.cu": "it is no longer a regular file",
    }
    held = {n: (tmp_path / n).read_bytes() for n in names if n not in ("gone.cu", "pipe.cu")}
    assert held == {
        "changed.cu": b"mine",
        "done.cu": b"new",
        "fine.cu": b"new",
        "locked.cu": b"old",
    }


def test_a_failure_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cu").write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = write_changed(tmp_path, {"a.cu": (b"old", b"new")})
    assert said == {"a.cu": "No space left on device"}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cu": b"old"}


def test_a_draft_that_a_killed_process_left_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container every process may have the same number."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    (tmp_path / "a.cu").write_bytes(b"old")
    (tmp_path / ".a.cu.7.tmp").write_bytes(b"ne")
    assert write_changed(tmp_path, {"a.cu": (b"old", b"new")}) == {}
    assert (tmp_path / "a.cu").read_bytes() == b"new"


def test_the_owner_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tmp_path / "a.cu").write_bytes(b"old")
    os.chown(tmp_path / "a.cu", 4321, 4321)
    (tmp_path / "a.cu").chmod(0o640)
    assert write_changed(tmp_path, {"a.cu": (b"old", b"new")}) == {}
    status = (tmp_path / "a.cu").stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (4321, 4321, 0o640)


def test_where_paths_lead(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    (root / "sub").mkdir(parents=True)
    other.mkdir()
    for file in (root / "a.cu", other / "b.cu"):
        file.write_bytes(b"")
    (root / "sub" / "up.cu").symlink_to("../a.cu")
    (root / "out.cu").symlink_to("../other/b.cu")
    (root / "folder").symlink_to("../other")
    (other / "back.cu").symlink_to("../root/a.cu")
    outside = os.path.realpath(other / "b.cu")
    assert leads_out(root, "a.cu") is None
    assert leads_out(root, "sub/up.cu") is None
    assert leads_out(root, "out.cu") == outside
    assert leads_out(root, "folder/b.cu") == outside
    assert leads_out(root, "../other/b.cu") is None
    assert leads_out(root, "../other/back.cu") == os.path.realpath(root / "a.cu")
