"""Where a stub goes: into a plugin that is there, a new one, or cudalint itself.

A folder is taken for what its pyproject.toml says it is; nothing of it is run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

import cudalint
from cudalint.plugins import GROUP
from cudalint.ruleform import CODE, NAME, OUR_PREFIX
from cudalint.stub.text import Stub, entry_point, project_text, rule_text, text_of_tests

_PROJECT = "pyproject.toml"


class StubError(Exception):
    """There can be no such stub; the text is one line that says why."""


class Written(msgspec.Struct, frozen=True):
    """The files to write, by path relative to the folder, and what is to be done then.

    `name` is the plugin's, "" for a rule of cudalint itself. `stanza` is what the
    folder's pyproject.toml lacks, "" where nothing.
    """

    files: dict[str, str]
    name: str
    stanza: str = ""


def stub_files(stub: Stub, folder: Path) -> Written:
    """What to write for a new rule in `folder`, which may be absent.

    Raises StubError for a code or name that can't be, or is taken, and for files
    that are there; SettingsError for a pyproject.toml that is no TOML.
    """
    _check_name(stub)
    project = _project(folder / _PROJECT)
    if project is not None and project.get("name") == "cudalint":
        written = _own(stub, folder)
    else:
        written = _plugin(stub, folder, project)
    for path in written.files:
        if (folder / path).exists() or (folder / path).is_symlink():
            raise StubError(f"{folder / path} is there already, and is left as it is")
    return written


def _check_name(stub: Stub) -> None:
    if not CODE.fullmatch(stub.code):
        raise StubError(f"'{stub.code}' is no code: capital letters and then digits, as HO001")
    if not NAME.fullmatch(stub.name):
        raise StubError(f"'{stub.name}' is no name: lower-case words with hyphens between them")


def _project(file: Path) -> dict[str, Any] | None:
    """The table `[project]` of a pyproject.toml, None where there is no such file."""
    from cudalint.namedfile import read_named
    from cudalint.settings.load import parse_toml
    from cudalint.settings.origin import Origin

    try:
        data = read_named(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StubError(f"cannot read {file}: {error.strerror}") from None
    table = parse_toml(Origin(str(file), data)).get("project")
    return table if isinstance(table, dict) else {}


def _own(stub: Stub, folder: Path) -> Written:
    """A rule of cudalint's own; its tests are those of all rules."""
    if not stub.code.startswith(OUR_PREFIX):
        raise StubError(f"a rule of cudalint's own has a code such as CU399, not '{stub.code}'")
    rules = Path("src/cudalint/rules")
    _check_free(stub, folder / rules)
    text = rule_text(stub, cudalint.__version__, 100)
    return Written({(rules / f"{stub.module}.py").as_posix(): text}, "")


def _plugin(stub: Stub, folder: Path, project: dict[str, Any] | None) -> Written:
    if stub.code.startswith(OUR_PREFIX):
        raise StubError(f"codes with {OUR_PREFIX} are cudalint's own; take other letters")
    entries = _entries(project or {})
    name = _plugin_name(folder, entries)
    package = entries.get(name, name.replace("-", "_"))
    place = _package(folder, package, is_entry=name in entries)
    _check_free(stub, folder / place)
    files = {
        f"{place}/{stub.module}.py": rule_text(stub, "0.1.0", 88),
        f"tests/test_{stub.module}.py": text_of_tests(stub, package),
    }
    if not (folder / place / "__init__.py").exists():
        files[f"{place}/__init__.py"] = '"""Rules for CUDA kernels: one a module."""\n'
    if project is None:
        files[_PROJECT] = project_text(name, package)
    lacks = project is not None and name not in entries
    return Written(files, name, entry_point(name, package) if lacks else "")


def _entries(project: dict[str, Any]) -> dict[str, str]:
    """The plugins that a project has, name to what the entry point names."""
    groups = project.get("entry-points")
    found = groups.get(GROUP) if isinstance(groups, dict) else None
    named = found.items() if isinstance(found, dict) else ()
    return {name: value for name, value in named if isinstance(value, str)}


def _plugin_name(folder: Path, entries: dict[str, str]) -> str:
    """The plugin's name: that of the entry point, or of the folder."""
    if entries:
        return next(iter(entries))
    name = folder.absolute().resolve().name.lower().replace("_", "-")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise StubError(
            f"the plugin is called as its folder, and '{name}' can be no name of a package; "
            "give another folder: --into FOLDER"
        )
    return name


def _package(folder: Path, package: str, *, is_entry: bool) -> str:
    """The folder of a package below `folder`, relative to it."""
    if not re.fullmatch(r"\w+(\.\w+)*", package):
        raise StubError(f"the entry point names '{package}', no package that a rule could go into")
    path = package.replace(".", "/")
    for place in (f"src/{path}", path):
        if (folder / place).is_dir():
            return place
    if is_entry:
        raise StubError(f"the entry point names '{package}', and there is no such folder")
    return f"src/{path}"


def _check_free(stub: Stub, place: Path) -> None:
    """Raise StubError when a file there is named by the same code, or the same name."""
    prefix, suffix = f"{stub.code.lower()}_", stub.module.partition("_")[2]
    for file in sorted(place.glob("*.py")):
        if file.stem.startswith(prefix):
            raise StubError(f"there is a rule {stub.code} already: {file}")
        if file.stem.partition("_")[2] == suffix:
            raise StubError(f"there is a rule '{stub.name}' already: {file}")
