"""What packages of cudalint are made from: the changelog, the lock file, the distributions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import cudalint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def requirements(extra: str) -> list[Requirement]:
    return [Requirement(line) for line in PROJECT["project"]["optional-dependencies"][extra]]


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    versions = re.findall(r"(?m)^## (.*)$", CHANGES)
    days = []
    for number, heading in enumerate(versions):
        if number == 0 and heading == "[Unreleased]":
            continue
        match = re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", heading)
        assert match is not None, heading
        days.append(date.fromisoformat(match[2]))
    assert versions
    assert days == sorted(days, reverse=True)
    assert set(re.findall(r"(?m)^### (.*)$", CHANGES)) <= set(KINDS)
    for line in CHANGES.splitlines()[1:]:
        assert re.match(r"$|#{2,3} |- \S|All notable changes\.", line), line


def test_the_version_is_the_latest_of_the_changelog_or_not_released() -> None:
    latest = re.search(r"(?m)^## \[(.*?)\]", CHANGES)
    assert latest is not None
    assert latest[1] in ("Unreleased", cudalint.__version__)


LOCK = [
    Requirement(line)
    for line in (ROOT / "requirements-dev.lock").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_the_lock_is_in_step_with_what_is_asked_for(python: str) -> None:
    """Each dependency is locked, once for each Python, at a version that is asked for."""
    asked = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    for one in [*asked, *(one for extra in ("nvcc", "dev", "docs") for one in requirements(extra))]:
        environment = {"python_version": python}
        if one.marker is not None and not one.marker.evaluate(environment):
            continue
        locked = [
            pin
            for pin in LOCK
            if canonicalize_name(pin.name) == canonicalize_name(one.name)
            and (pin.marker is None or pin.marker.evaluate(environment))
        ]
        assert len(locked) == 1, f"{one.name}: {locked}; `make lock` writes the file anew"
        (version,) = locked[0].specifier
        assert version.operator == "=="
        assert one.specifier.contains(version.version)


def test_every_dependency_has_a_lower_bound() -> None:
    asked = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    for extra in PROJECT["project"]["optional-dependencies"]:
        asked += requirements(extra)
    unbound = [one.name for one in asked if not {s.operator for s in one.specifier} & {">=", "=="}]
    assert unbound == []


def test_distributions_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for part in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        for found in ROOT.glob(part.lstrip("/")):
            if found.is_dir() and part not in ("/src", "/tools"):
                continue
            copy = shutil.copytree if found.is_dir() else shutil.copy
            copy(found, source / found.name)
    shutil.copy(ROOT / "pyproject.toml", source)
    tool = ROOT / "tools" / "distributions.py"
    command = [sys.executable, str(tool), str(source), str(tmp_path / "out"), "1700000000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    version = cudalint.__version__
    names = [line.split("  ")[1] for line in done.stdout.splitlines()]
    assert names == [f"cudalint-{version}-py3-none-any.whl", f"cudalint-{version}.tar.gz"]


def test_a_build_that_differs_is_told(tmp_path: Path) -> None:
    """A build that puts a number of its own into the version can't pass."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "drifting"\ndynamic = ["version"]\n'
        '[tool.hatch.version]\nsource = "code"\npath = "version.py"\n'
        '[tool.hatch.build]\ninclude = ["version.py"]\n'
    )
    (source / "version.py").write_text("import time\n__version__ = f'1.{time.time_ns()}'\n")
    tool = ROOT / "tools" / "distributions.py"
    command = [sys.executable, str(tool), str(source), str(tmp_path / "out"), "1700000000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "a second build has other bytes" in done.stderr
