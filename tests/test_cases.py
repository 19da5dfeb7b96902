"""Small trees with the findings expected in them: the folders of tests/fixtures/cases.

Each has an EXPECT file: a line on what it is about, `# select: RULES`, then
`path:line CODE` for each finding. They are copies of the specification's own
cases, where those are at hand.
"""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path

import pytest

from conftest import lint
from cudalint.lines import LineIndex
from cudalint.registry import all_rules
from cudalint.settings.select import specificity

CASES = Path(__file__).parent / "fixtures" / "cases"
SPECIFICATION = Path(__file__).parents[2] / "shared" / "cases"

FOLDERS = sorted(folder for folder in CASES.iterdir() if folder.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder: Path, tmp_path: Path) -> None:
    expect = (folder / "EXPECT").read_text().splitlines()
    selectors = tuple(expect[1].removeprefix("# select: ").split(","))
    known = all_rules()
    unknown = [s for s in selectors if all(specificity(s, rule) is None for rule in known)]
    assert unknown == []
    root = tmp_path / "case"
    shutil.copytree(folder, root)
    isolated = not (root / "cudalint.toml").exists()
    finished = lint(root, select=selectors, isolated=isolated)
    lines = {path: LineIndex(source.data) for path, source in finished.sources.items()}
    found = [
        f"{f.span.path}:{lines[f.span.path].line_of(f.span.start)} {f.code}"
        for f in finished.findings
    ]
    assert sorted(found) == sorted(expect[2:])
    assert finished.notifications == ()


SINGLE = [folder for folder in FOLDERS if len([*folder.rglob("*.*")]) == 1]


@pytest.mark.parametrize("folder", SINGLE, ids=lambda folder: folder.name)
def test_case_from_stdin(folder: Path, tmp_path: Path) -> None:
    """What comes in place of a file is judged as the file is, also where there is none."""
    expect = (folder / "EXPECT").read_text().splitlines()
    (file,) = folder.rglob("*.*")
    name = str(file.relative_to(folder))
    selectors = tuple(expect[1].removeprefix("# select: ").split(","))
    here, nowhere = tmp_path / "here", tmp_path / "nowhere"
    shutil.copytree(folder, here)
    nowhere.mkdir()
    contents = {str(nowhere / name): file.read_bytes()}
    from_file = lint(here, name, select=selectors, isolated=True)
    given = lint(nowhere, name, select=selectors, isolated=True, contents=contents)
    assert given.findings == from_file.findings
    assert given.suppressed == from_file.suppressed
    assert given.notifications == from_file.notifications == ()


@pytest.mark.skipif(not SPECIFICATION.is_dir(), reason="the specification is not at hand")
def test_the_cases_are_those_of_the_specification() -> None:
    def paths(folder: Path) -> list[str]:
        return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())

    assert paths(CASES) == paths(SPECIFICATION)
    same, different, failed = filecmp.cmpfiles(
        SPECIFICATION, CASES, paths(SPECIFICATION), shallow=False
    )
    assert (different, failed) == ([], [])
    assert len(same) == len(paths(SPECIFICATION))
