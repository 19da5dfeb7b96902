"""Asks git for objects of a repository, and for nothing that would run or write anything there.

Git is run with a list of arguments. It never looks at the work tree, where
filters, text conversions and monitors would run; it runs no hook, fetches
nothing and takes no lock.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_TIMEOUT = 300
"""Seconds that one command may take."""

_KEPT_QUIET = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


class GitError(Exception):
    """Git can't answer; the text is one line that says why."""


def git(folder: Path, *arguments: str, given: bytes = b"", may_fail: tuple[int, ...] = ()) -> bytes:
    """What a command of git prints when it is run in `folder` and `given` this.

    Raises GitError, but not for an exit status that `may_fail` names: some say
    "none" by it.
    """
    try:
        done = subprocess.run(
            ["git", "--no-pager", *_KEPT_QUIET, *arguments],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            input=given,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is needed for it, and there is none") from None
    except OSError as error:
        raise GitError(f"git can't be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git took more than {_TIMEOUT} s") from None
    if done.returncode not in (0, *may_fail):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = lines[0].removeprefix("fatal: ") if lines else f"exit status {done.returncode}"
        raise GitError(f"git says: {said}")
    return done.stdout


def top_of(folder: Path) -> Path:
    """The real root of the work tree around `folder`. Raises GitError."""
    said = git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")
    return Path(os.path.realpath(os.fsdecode(said)))


def commit_of(folder: Path, revision: str) -> str:
    """The id of the commit that `revision` names. Raises GitError."""
    # With --end-of-options nothing in a revision can be taken for an option.
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        return git(folder, *asked).decode().strip()
    except GitError:
        raise GitError(f"git knows no commit '{revision}'") from None
