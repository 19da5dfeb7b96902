"""Writes requirements-dev.lock: one version of each dependency for every supported Python.

    python3 tools/lock.py [--newest] python3.10 python3.11 python3.12 python3.13

Each interpreter is asked, through its pip, what it would install; nothing is
installed. Where they differ, the line carries a marker. What is locked stays as it
is, where it is still asked for; with --newest, all are the newest there are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-dev.lock"
HEADER = """\
# Versions of everything that `make lint`, `make test` and `make site` install, for
# Python {}.
# Used as constraints (pip install -c). Written by `make lock`.
"""


def resolve(python: str, newest: bool) -> tuple[str, dict[str, str]]:
    """The interpreter's version ("3.10") and the versions that pip picks for it, by name.

    Unless the `newest` are wanted, within what is locked.
    """
    version = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    command = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", "-", "--disable-pip-version-check", f"{ROOT}[nvcc,dev,docs]"]
    if not newest:
        command += ["--constraint", str(LOCK)]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {}
    for item in json.loads(report)["install"]:
        metadata = item["metadata"]
        name = metadata["name"].lower().replace("_", "-").replace(".", "-")
        found[name] = metadata["version"]
    found.pop("cudalint")
    return version, found


def lines(resolved: dict[str, dict[str, str]]) -> list[str]:
    """The lock's lines, by name, for the versions of each interpreter."""
    by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for python, found in resolved.items():
        for name, version in found.items():
            by_name[name][version].append(python)
    result = []
    for name in sorted(by_name):
        for version, pythons in sorted(by_name[name].items()):
            condition = " or ".join(f'python_version == "{python}"' for python in pythons)
            everywhere = len(pythons) == len(resolved)
            result.append(f"{name}=={version}" + ("" if everywhere else f" ; {condition}"))
    return result


def main(arguments: list[str]) -> int:
    """Write the lock. Returns the exit code."""
    newest = "--newest" in arguments
    pythons = [argument for argument in arguments if argument != "--newest"]
    if not pythons:
        print("name one interpreter of each Python version to lock for", file=sys.stderr)
        return 2
    resolved = dict(resolve(python, newest) for python in pythons)
    text = HEADER.format(", ".join(resolved)) + "\n".join(lines(resolved)) + "\n"
    LOCK.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
