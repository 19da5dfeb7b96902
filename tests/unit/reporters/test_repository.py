"""What is read from a repository's own files, git never being run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudalint.sarif.repository import find_repository, web_address

COMMIT = "0123456789" * 4
OTHER = "f" * 40


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree on branch `main` with a loose reference and a remote."""
    write(tmp_path / ".git" / "HEAD", "ref: refs/heads/main\n")
    write(tmp_path / ".git" / "refs" / "heads" / "main", f"{COMMIT}\n")
    write(tmp_path / ".git" / "config", '[remote "origin"]\n\turl = https://h.org/a/b.git\n')
    (tmp_path / "deep" / "er").mkdir(parents=True)
    return tmp_path


def test_from_a_folder_below(root: Path) -> None:
    found = find_repository(root / "deep" / "er")
    assert found is not None
    assert found.root == root
    assert found.uri == "https://h.org/a/b.git"
    assert found.revision == COMMIT
    assert found.branch == "main"


def test_a_branch_with_slashes(root: Path) -> None:
    write(root / ".git" / "HEAD", "ref: refs/heads/user/fix\n")
    write(root / ".git" / "refs" / "heads" / "user" / "fix", f"{OTHER}\n")
    found = find_repository(root)
    assert found is not None
    assert (found.branch, found.revision) == ("user/fix", OTHER)


def test_a_packed_reference(root: Path) -> None:
    (root / ".git" / "refs" / "heads" / "main").unlink()
    write(
        root / ".git" / "packed-refs",
        f"# pack-refs\n{OTHER} refs/heads/x\n{COMMIT} refs/heads/main\n",
    )
    found = find_repository(root)
    assert found is not None
    assert found.revision == COMMIT


def test_a_detached_head(root: Path) -> None:
    write(root / ".git" / "HEAD", f"{OTHER}\n")
    found = find_repository(root)
    assert found is not None
    assert (found.branch, found.revision) == (None, OTHER)


def test_an_unborn_branch(root: Path) -> None:
    (root / ".git" / "refs" / "heads" / "main").unlink()
    found = find_repository(root)
    assert found is not None
    assert (found.branch, found.revision) == ("main", None)


def test_a_linked_work_tree(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    linked = tmp_path_factory.mktemp("linked")
    git = root / ".git" / "worktrees" / "linked"
    write(git / "HEAD", "ref: refs/heads/side\n")
    write(git / "commondir", "../..\n")
    write(root / ".git" / "refs" / "heads" / "side", f"{OTHER}\n")
    write(linked / ".git", f"gitdir: {git}\n")
    found = find_repository(linked)
    assert found is not None
    assert found.root == linked
    assert (found.branch, found.revision) == ("side", OTHER)
    assert found.uri == "https://h.org/a/b.git"


@pytest.mark.parametrize("head", ["ref: refs/heads/../../../secret\n", "nonsense\n", ""])
def test_nonsense_in_head(root: Path, head: str) -> None:
    write(root.parent / "secret", f"{COMMIT}\n")
    write(root / ".git" / "HEAD", head)
    found = find_repository(root)
    assert found is not None
    assert found.revision is None


@pytest.mark.parametrize(
    ("config", "uri"),
    [
        ("", None),
        ("[core]\n\tbare = false\n\turl = https://h.org/no\n", None),
        ('[remote "up"]\n\turl = https://h.org/only\n', "https://h.org/only"),
        ('[remote "a"]\nurl=https://h.org/a\n[remote "b"]\nurl=https://h.org/b\n', None),
        (
            '[remote "a"]\nurl=https://h.org/a\n[remote "origin"]\nurl=https://h.org/o\n'
            '[branch "main"]\n\tremote = a\n',
            "https://h.org/o",
        ),
    ],
)
def test_which_remote(root: Path, config: str, uri: str | None) -> None:
    write(root / ".git" / "config", config)
    found = find_repository(root)
    assert found is not None
    assert found.uri == uri


def test_no_repository(tmp_path: Path) -> None:
    write(tmp_path / ".git", "no pointer\n")
    outside = find_repository(tmp_path)
    assert outside is None or outside.root != tmp_path


@pytest.mark.parametrize(
    ("remote", "uri"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://user:token@github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://token@github.com:8443/a/b", "https://github.com:8443/a/b"),
        ("http://[::1]:80/a", "http://[::1]:80/a"),
        ("git@github.com:a/b.git", "ssh://git@github.com/a/b.git"),
        ("deploy@host.org:/srv/b.git", "ssh://host.org/srv/b.git"),
        ("host.org:b.git", "ssh://host.org/b.git"),
        ("ssh://git@host.org:2222/a b.git", "ssh://git@host.org:2222/a%20b.git"),
        ("ssh://me:secret@host.org/b", "ssh://host.org/b"),
        ("https://h.org/a?token=x#y", "https://h.org/a"),
        ("/srv/git/b.git", None),
        ("../b.git", None),
        ("file:///home/me/b.git", None),
        ("C:/git/b.git", None),
        ("https://h.org:port/a", None),
        ("https://[broken/a", None),
    ],
)
def test_addresses(remote: str, uri: str | None) -> None:
    assert web_address(remote) == uri


def test_a_repository_that_git_made(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", "-C", tmp_path, *identity, *arguments],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "trunk")
    git("commit", "-q", "--allow-empty", "-m", "First")
    git("remote", "add", "origin", "git@example.org:a/b.git")
    for _ in range(2):
        found = find_repository(tmp_path)
        assert found is not None
        assert found.revision == git("rev-parse", "HEAD")
        assert found.branch == git("branch", "--show-current")
        assert found.uri == "ssh://git@example.org/a/b.git"
        git("pack-refs", "--all")
