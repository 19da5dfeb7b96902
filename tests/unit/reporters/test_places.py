"""URIs of artifacts: relative to the repository, encoded, links followed within it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.sarif.place import BASE, Places
from cudalint.sarif.repository import Repository


def repository(root: Path) -> Repository:
    return Repository(root=root, uri=None, revision=None, branch=None)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a.cu", "a.cu"),
        ("k/rms norm.cu", "k/rms%20norm.cu"),
        ("k/[x]^|#%?.cu", "k/%5Bx%5D%5E%7C%23%25%3F.cu"),
        ("c:d.cu", "c%3Ad.cu"),
        ("back\\slash.cu", "back%5Cslash.cu"),
        ("µ.cu", "%C2%B5.cu"),
        ("\udcff.cu", "%FF.cu"),
        ("(a)!$&'*+,;=@~-._.cu", "(a)!$&'*+,;=@~-._.cu"),
    ],
)
def test_encoding(tmp_path: Path, path: str, uri: str) -> None:
    found = Places(str(tmp_path), None).location(path)
    assert (found.uri, found.uri_base_id) == (uri, BASE)


def test_relative_to_the_repository(tmp_path: Path) -> None:
    places = Places(str(tmp_path / "sub" / "tree"), repository(tmp_path))
    assert places.location("k/a.cu").uri == "sub/tree/k/a.cu"
    assert places.location("../b.cu").uri == "sub/b.cu"
    assert places.relative("../../a.cu") == "a.cu"


def test_outside_the_repository(tmp_path: Path) -> None:
    places = Places(str(tmp_path / "repo"), repository(tmp_path / "repo"))
    found = places.location("../elsewhere/a b.cu")
    assert found.uri == f"{(tmp_path / 'elsewhere').as_uri()}/a%20b.cu"
    assert found.uri_base_id is None
    assert places.relative("../elsewhere/a b.cu") is None


def test_links_are_followed_inside_only(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "real").mkdir(parents=True)
    (repo / "real" / "a.cu").write_text("")
    (tmp_path / "outside.cu").write_text("")
    (repo / "link").symlink_to("real")
    (repo / "out.cu").symlink_to("../outside.cu")
    (tmp_path / "way").symlink_to("repo")
    places = Places(str(tmp_path / "way"), repository(repo))
    assert places.location("link/a.cu").uri == "real/a.cu"
    assert places.location("out.cu").uri == "out.cu"


@given(st.binary(min_size=1, max_size=30).filter(lambda b: not {0, 0x2F} & set(b)))
def test_a_uri_gives_the_name_back(name: bytes) -> None:
    if name in (b".", b".."):
        return
    found = Places("/nowhere/at/all", None).location(os.fsdecode(name))
    assert unquote_to_bytes(found.uri) == name
    assert ":" not in found.uri
    assert found.uri.isascii()
