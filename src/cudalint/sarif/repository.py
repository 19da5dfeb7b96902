"""The git repository around a path, from its files: git itself is never run.

What can't be told from them (reftables, a remote that is a local path) is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

_LIMIT = 4_000_000
"""The most bytes that are read of one file of a repository."""


class Repository(msgspec.Struct, frozen=True):
    """A work tree: its real `root`, and what the log may say of it.

    `uri` is the remote's address with no credentials in it.
    """

    root: Path
    uri: str | None
    revision: str | None
    branch: str | None


def find_repository(start: Path) -> Repository | None:
    """The innermost repository that `start`, an absolute and real path, lies in."""
    for folder in (start, *start.parents):
        git = _git_folder(folder / ".git")
        if git is not None:
            return _repository(folder, git)
    return None


def _git_folder(dot_git: Path) -> Path | None:
    """The folder that `.git` is, or that it points to (a linked work tree, a submodule)."""
    if (dot_git / "HEAD").is_file():
        return dot_git
    match = re.fullmatch(r"gitdir: (.+)\n?", _read(dot_git) or "")
    if match is None:
        return None
    git = dot_git.parent / match.group(1)
    return git if (git / "HEAD").is_file() else None


def _repository(root: Path, git: Path) -> Repository:
    shared = git / (_read(git / "commondir") or ".").strip()
    head = (_read(git / "HEAD") or "").strip()
    match = re.fullmatch(r"ref: (refs/[^\s]+)", head)
    reference = match.group(1) if match else None
    revision = _resolve(reference, git, shared) if reference else head
    is_revision = revision is not None and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", revision)
    branch = reference and reference.removeprefix("refs/heads/")
    return Repository(
        root=root,
        uri=_remote(_read(shared / "config") or ""),
        revision=revision if is_revision else None,
        branch=branch if branch != reference else None,
    )


def _resolve(reference: str, git: Path, shared: Path) -> str | None:
    """The commit of a reference, loose or packed; None for an unborn branch."""
    if ".." in reference.split("/"):
        return None
    for folder in (git, shared):
        loose = _read(folder / reference)
        if loose is not None:
            return loose.strip()
    for line in (_read(shared / "packed-refs") or "").splitlines():
        commit, _, name = line.partition(" ")
        if name == reference:
            return commit
    return None


def _remote(config: str) -> str | None:
    """The address of the remote `origin`, else of the only remote."""
    remotes = dict(_remotes(config))
    if "origin" in remotes:
        return web_address(remotes["origin"])
    return web_address(*remotes.values()) if len(remotes) == 1 else None


def _remotes(config: str) -> Iterator[tuple[str, str]]:
    name = None
    for line in config.splitlines():
        section = re.match(r'\s*\[(?:remote "(.*)")?', line)
        if section:
            name = section.group(1)
        entry = re.match(r"\s*url\s*=\s*(\S+)\s*$", line, re.IGNORECASE)
        if name is not None and entry:
            yield name, entry.group(1).strip('"')


def web_address(remote: str) -> str | None:
    """A remote as a URI, with no user or password but ssh's `git`; None for a local path."""
    scp = re.fullmatch(r"(?:([\w.-]+)@)?([\w.-]+):(?!//)(.+)", remote)
    if scp and len(scp.group(2)) > 1:
        remote = f"ssh://{scp.group(1) or ''}@{scp.group(2)}/{scp.group(3).lstrip('/')}"
    try:
        parts = urlsplit(remote)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("https", "http", "ssh", "git") or not parts.hostname:
        return None
    user = "git@" if parts.scheme == "ssh" and parts.username == "git" else ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = f"{user}{host}" + (f":{port}" if port else "")
    return urlunsplit((parts.scheme, place, quote(parts.path, safe="/%~-._"), "", ""))


def _read(path: Path) -> str | None:
    """A file's text; None when there is none to read, or more than any real one holds."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_LIMIT + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= _LIMIT else None
