"""Recorded resources: the file, what is worse, and what else is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.occupancy import Occupancy
from cudalint.resources.baseline import (
    Baseline,
    Recorded,
    configured_baseline,
    read_baseline,
    recorded,
    version_order,
    write_baseline,
)
from cudalint.resources.compare import Change, Figures, changes, regressions, weight
from cudalint.resources.model import LaunchShape, ResourceRow
from cudalint.resources.model import Origin as Place
from cudalint.settings.origin import Origin, SettingsError


def row(
    kernel: str = "k",
    arch: str = "sm_121",
    *,
    path: str = "a.cu",
    symbol: str | None = None,
    nvcc: str = "13.0.88",
    targets: tuple[str, ...] = (),
    registers: int = 40,
    spills: int = 0,
    warps: int | None = None,
) -> ResourceRow:
    found = None if warps is None else Occupancy(1, warps, 48, ("registers",), {"registers": 1})
    return ResourceRow(
        path=path,
        kernel=kernel,
        symbol=kernel if symbol is None else symbol,
        arch=arch,
        nvcc=nvcc,
        targets=targets,
        origin=Place(path, 1),
        registers=registers,
        spill_stores=spills,
        spill_loads=spills,
        stack=spills,
        static_shared=0,
        barriers=0,
        shape=LaunchShape(None if warps is None else 256),
        occupancy=found,
    )


def read(tmp_path: Path, text: str) -> Baseline:
    (tmp_path / "r.toml").write_bytes(text.encode("utf-8"))
    return read_baseline(tmp_path / "r.toml", "r.toml")


def test_one_sorted_line_for_each_kernel_and_arch(tmp_path: Path) -> None:
    rows = [
        row("z", path="b.cu"),
        row("k", "sm_121", registers=50, warps=40),
        row("k", "sm_90", spills=8),
        row("n::k<float>", symbol="_Z1k"),
    ]
    text = write_baseline(rows)
    assert text == write_baseline(rows[::-1])
    lines = text.splitlines()
    assert lines[2:4] == ["version = 1", "kernels = ["]
    assert lines[4:] == [
        '  { path = "a.cu", kernel = "k", arch = "sm_90", nvcc = "13.0.88", registers = 40,'
        " spill-stores = 8, spill-loads = 8, stack = 8 },",
        '  { path = "a.cu", kernel = "k", arch = "sm_121", nvcc = "13.0.88", registers = 50,'
        " threads = 256, warps = 40 },",
        '  { path = "a.cu", kernel = "n::k<float>", symbol = "_Z1k", arch = "sm_121",'
        ' nvcc = "13.0.88", registers = 40 },',
        '  { path = "b.cu", kernel = "z", arch = "sm_121", nvcc = "13.0.88", registers = 40 },',
        "]",
    ]
    assert {line.key for line in read(tmp_path, text).lines} == {
        ("a.cu", "k", "sm_90"),
        ("a.cu", "k", "sm_121"),
        ("a.cu", "_Z1k", "sm_121"),
        ("b.cu", "z", "sm_121"),
    }


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(NAMES, NAMES, NAMES, st.integers(0, 255), st.one_of(st.none(), st.integers(0, 64)))
def test_any_name_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    path: str,
    kernel: str,
    target: str,
    registers: int,
    warps: int | None,
) -> None:
    made = [
        row(kernel, path=path, targets=(target, "x"), registers=registers, warps=warps),
        row(kernel, path=path, targets=("y",), registers=registers + 1),
    ]
    found = read(tmp_path_factory.mktemp("b"), write_baseline(made)).lines
    assert set(found) == {recorded(one) for one in made}


def test_targets_stand_there_only_where_they_tell_ways_apart(tmp_path: Path) -> None:
    one = read(tmp_path, write_baseline([row(targets=("a", "b"))]))
    assert [line.targets for line in one.lines] == [()]
    assert [line.registers for line in one.of(row(targets=("c",)))] == [40]
    ways = [row(targets=("a", "b")), row(targets=("c",), registers=50)]
    two = read(tmp_path, write_baseline(ways))
    assert [line.registers for line in two.of(row(targets=("c",)))] == [50]
    assert [line.registers for line in two.of(row(targets=("b", "c")))] == [40, 50]
    assert len(two.of(row(targets=("new",)))) == 2


def test_a_name_that_toml_can_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a name that is no UTF-8 can't stand in a baseline"):
        write_baseline([row(path="\udcff.cu")])


def test_lines_of_another_nvcc_are_used_when_there_is_none_of_this_one() -> None:
    lines = [recorded(row(nvcc=version)) for version in ("12.9.1", "13.0.88", "9.9")]
    baseline = Baseline("r.toml", lines)
    assert [line.nvcc for line in baseline.of(row(nvcc="12.9.1"))] == ["12.9.1"]
    assert [line.nvcc for line in baseline.of(row(nvcc="13.5.37"))] == ["13.0.88"]
    assert baseline.of(row("other")) == []
    assert version_order("12.10.1") > version_order("12.9.1")


def test_lines_of_another_nvcc_stay_when_asked_for_kernels_that_are_there(tmp_path: Path) -> None:
    before = [recorded(row(name, nvcc="12.9.1")) for name in ("k", "gone")]
    text = write_baseline([row()], before=[*before, recorded(row(registers=99))])
    found = [(line.kernel, line.nvcc, line.registers) for line in read(tmp_path, text).lines]
    assert found == [("k", "12.9.1", 40), ("k", "13.0.88", 40)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version = 2\n", "r.toml:1:11: version: invalid enum value 2"),
        ("kernels = []\n", "r.toml:1:1: "),
        ("version = 1\nkernels = [\n  { kernel = 3 },\n]\n", "r.toml:3:"),
        (
            'version = 1\nkernels = [{ path = "a", kernel = "k", arch = "sm_90", nvcc = "1",'
            ' registers = "x" }]\n',
            "r.toml:2:80: kernels.registers: expected int, got str",
        ),
        (
            'version = 1\nkernels = [{ path = "a", kernel = "k", arch = "sm_90", nvcc = "1",'
            " registers = 1, regs = 1 }]\n",
            "r.toml:2:83: unknown key 'regs'",
        ),
        ("version = \n", "r.toml:1:11: invalid TOML: "),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_place(
    tmp_path: Path, text: str, expected: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


def test_the_setting_names_a_file_below_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "r.toml").write_text("version = 1\n")
    (root / "link.toml").symlink_to(tmp_path / "r.toml")
    for name in ("../r.toml", str(tmp_path / "r.toml"), "link.toml"):
        origin = Origin("cudalint.toml", f"resource-baseline = '{name}'\n".encode())
        with pytest.raises(SettingsError) as caught:
            configured_baseline(name, root, root, origin)
        expected = f"cudalint.toml:1:21: resource-baseline: '{name}' is not below the project root"
        assert str(caught.value) == expected
    with pytest.raises(SettingsError, match=r"there is no file 'r\.toml'; `cudalint resources "):
        configured_baseline("r.toml", root, root, None)
    (root / "r.toml").write_text("version = 1\n")
    assert configured_baseline("r.toml", root, tmp_path, None).label == "root/r.toml"


BEFORE = Figures(40, 0, 0, 0, 1024, 48)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, []),
        (
            Figures(40, 8, 16, 0, 1024, 48),
            ["spill stores 0 to 8 bytes", "spill loads 0 to 16 bytes"],
        ),
        (Figures(40, 0, 0, 64, 1024, 48), ["stack 0 to 64 bytes"]),
        (Figures(48, 0, 0, 0, 1024, 40), ["warps 48 to 40 on an SM", "registers 40 to 48"]),
        (Figures(42, 0, 0, 0, 1024, 48), []),
        (Figures(48, 0, 0, 0, 1024, None), []),
        (Figures(32, 0, 0, 0, 9999, 16), []),
    ],
)
def test_what_is_a_regression(after: Figures, expected: list[str]) -> None:
    assert [str(change) for change in regressions(BEFORE, after)] == expected


def test_figures_of_another_nvcc_may_be_somewhat_larger() -> None:
    before = Figures(40, 100, 100, 100, 0, 48)
    after = Figures(44, 110, 111, 100, 0, 40)
    assert [change.what for change in regressions(before, after, 10)] == ["spill loads"]
    assert len(regressions(before, after)) == 4
    # A new spill is one whatever compiled it.
    assert regressions(BEFORE, Figures(40, 4, 0, 0, 1024, 48), 50)


FIGURES = st.builds(
    Figures,
    *[st.integers(0, 3)] * 5,
    warps=st.one_of(st.none(), st.integers(0, 3)),
)


@given(FIGURES, FIGURES)
def test_laws_of_changes(before: Figures, after: Figures) -> None:
    assert changes(before, before) == ()
    there = {(change.what, change.before, change.after) for change in changes(before, after)}
    back = {(change.what, change.after, change.before) for change in changes(after, before)}
    assert there == back
    worse = regressions(before, after)
    assert set(worse) <= set(changes(before, after))
    assert all(change.worse for change in worse)
    assert not set(regressions(before, after, 50)) - set(worse)
    assert weight((Change("spill loads", 0, 8),)) > weight((Change("stack", 0, 99),))


def test_a_line_says_what_was_measured() -> None:
    line = recorded(row(spills=8, warps=40))
    assert isinstance(line, Recorded)
    assert line.figures == Figures(40, 8, 8, 8, 0, 40)
