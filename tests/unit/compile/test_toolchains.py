"""Finding nvcc: places, order, releases, and what is wrong with those that are no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.compile.toolchain import Toolchain, Toolchains, find_toolchains


def script(
    folder: Path, release: str = "13.0", archs: str = "sm_90 sm_121", name: str = "nvcc"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(
        f"""#!/bin/sh
case "$1" in
  --version) echo "Cuda compilation tools, release {release}, V{release}.88";;
  --list-gpu-code) for arch in {archs}; do echo $arch; done;;
esac
"""
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def gcc(tmp_path: Path) -> str:
    """A folder for PATH with a host compiler in it."""
    script(tmp_path / "host", name="gcc")
    return str(tmp_path / "host")


def test_path_comes_before_cuda_home_before_the_packages(tmp_path: Path, gcc: str) -> None:
    on_path = script(tmp_path / "bin", "13.1")
    home = script(tmp_path / "home" / "bin", "13.2")
    path_variable = script(tmp_path / "cuda" / "bin", "13.3")
    packaged = script(tmp_path / "site" / "nvidia" / "cu13" / "bin", "13.4")
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{gcc}",
        "CUDA_HOME": str(tmp_path / "home"),
        "CUDA_PATH": str(tmp_path / "cuda"),
    }
    found = find_toolchains(environment, [str(tmp_path / "site")])
    assert [tool.nvcc for tool in found.found] == [
        str(on_path),
        str(home),
        str(path_variable),
        str(packaged),
    ]
    assert found.problems == ()
    assert found.found[0].release == (13, 1)
    assert found.found[0].archs == {90, 121}


def test_a_toolkit_is_preferred_where_it_knows_the_arch(tmp_path: Path, gcc: str) -> None:
    script(tmp_path / "bin", "12.4", "sm_80 sm_90")
    script(tmp_path / "site" / "nvidia" / "cu13" / "bin", "13.5", "sm_80 sm_90 sm_121")
    found = find_toolchains({"PATH": f"{tmp_path / 'bin'}:{gcc}"}, [str(tmp_path / "site")])
    releases = {arch: found.choose(arch) for arch in ("sm_90", "sm_121", None, "sm_20")}
    assert {arch: tool and tool.release for arch, tool in releases.items()} == {
        "sm_90": (12, 4),
        "sm_121": (13, 5),
        None: (12, 4),
        "sm_20": None,
    }


def test_what_is_no_use_is_said_in_a_line(tmp_path: Path, gcc: str) -> None:
    old = script(tmp_path / "old", "11.8")
    silent = script(tmp_path / "silent")
    silent.write_text("#!/bin/sh\necho hello\n")
    failing = script(tmp_path / "failing")
    failing.write_text("#!/bin/sh\nexit 3\n")
    garbage = tmp_path / "garbage" / "nvcc"
    garbage.parent.mkdir()
    garbage.write_bytes(b"\x7fELF\0\1\2")
    garbage.chmod(0o755)
    folders = [str(tool.parent) for tool in (old, silent, failing, garbage)]
    found = find_toolchains({"PATH": ":".join([*folders, gcc])}, [])
    assert found.found == ()
    assert found.problems == (
        f"{old} is release 11.8, and 12.0 or later is needed",
        f"{silent} doesn't say its release",
        f"{failing} --version failed",
        f"{garbage} can't be run: Exec format error",
    )


def test_a_missing_host_compiler_is_said_once(tmp_path: Path) -> None:
    script(tmp_path / "bin")
    environment = {"PATH": str(tmp_path / "bin")}
    found = find_toolchains(environment, [])
    assert found == Toolchains((), ("nvcc needs a host compiler, and PATH has no gcc",))
    script(tmp_path / "host", name="my-gcc")
    named = {**environment, "NVCC_CCBIN": str(tmp_path / "host" / "my-gcc")}
    assert len(find_toolchains(named, []).found) == 1


def test_relative_folders_are_not_searched(
    tmp_path: Path, gcc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They could lie in the tree that is linted, and nothing from there is run."""
    script(tmp_path / "tree" / "bin")
    script(tmp_path / "tree" / "nvidia" / "cu13" / "bin")
    monkeypatch.chdir(tmp_path / "tree")
    environment = {"PATH": f".:bin::{gcc}", "CUDA_HOME": "."}
    assert find_toolchains(environment, ["", "."]) == Toolchains()


def test_one_nvcc_by_two_ways_counts_once(tmp_path: Path, gcc: str) -> None:
    script(tmp_path / "cuda" / "bin")
    (tmp_path / "link").symlink_to(tmp_path / "cuda" / "bin")
    environment = {"PATH": f"{tmp_path / 'link'}:{gcc}", "CUDA_HOME": str(tmp_path / "cuda")}
    assert len(find_toolchains(environment, []).found) == 1


def test_the_disassembler_beside_nvcc_or_on_path(tmp_path: Path, gcc: str) -> None:
    script(tmp_path / "bin")
    environment = {"PATH": f"{tmp_path / 'bin'}:{gcc}"}
    assert find_toolchains(environment, []).found[0].nvdisasm is None
    other = script(Path(gcc), name="nvdisasm")
    assert find_toolchains(environment, []).found[0].nvdisasm == str(other)
    beside = script(tmp_path / "bin", name="nvdisasm")
    assert find_toolchains(environment, []).found[0].nvdisasm == str(beside)


@pytest.mark.parametrize(
    ("arch", "release", "known"),
    [
        ("sm_90a", (12, 0), True),
        ("sm_121f", (12, 9), True),
        ("sm_121f", (12, 8), False),
        ("sm_80", (13, 0), False),
        ("nonsense", (13, 0), False),
    ],
)
def test_archs_with_suffixes(arch: str, release: tuple[int, int], known: bool) -> None:
    assert Toolchain("nvcc", "", release, frozenset({90, 121})).knows(arch) is known


@pytest.mark.nvcc
def test_the_nvcc_of_this_machine(toolchains: Toolchains) -> None:
    for tool in toolchains.found:
        assert tool.release >= (12, 0)
        assert 90 in tool.archs
        assert tool.version.startswith(".".join(map(str, tool.release)))


@pytest.mark.parametrize("place", ["nvidia/cu13/bin", "nvidia/cu12/bin", "nvidia/cuda_nvcc/bin"])
def test_where_the_packages_put_nvcc(tmp_path: Path, gcc: str, place: str) -> None:
    packaged = script(tmp_path / "site" / place, "12.0")
    (found,) = find_toolchains({"PATH": gcc}, [str(tmp_path / "site")]).found
    assert (found.nvcc, found.release) == (str(packaged), (12, 0)), "12.0 is not too old"


def test_a_file_that_is_no_program_is_passed_over(tmp_path: Path, gcc: str) -> None:
    script(tmp_path / "bin").chmod(0o644)
    (tmp_path / "folder" / "nvcc").mkdir(parents=True)
    path = f"{tmp_path / 'bin'}:{tmp_path / 'folder'}:{gcc}"
    assert find_toolchains({"PATH": path}, []) == Toolchains()
    nvcc = script(tmp_path / "real")
    script(tmp_path / "real", name="nvdisasm").chmod(0o644)
    (tmp_path / "folder" / "nvdisasm").mkdir()
    (found,) = find_toolchains({"PATH": f"{tmp_path / 'real'}:{path}"}, []).found
    assert (found.nvcc, found.nvdisasm) == (str(nvcc), None)
