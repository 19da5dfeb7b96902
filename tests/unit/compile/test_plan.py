"""What is compiled: files, archs, flags and include folders of the targets."""

from __future__ import annotations

from pathlib import Path

from conftest import write_files
from cudalint.compile.plan import plan
from cudalint.compile.request import CompileRequest
from cudalint.settings.model import Settings
from cudalint.tree.read import read_trees

TREE = {
    "kernels/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n[build]\n'
    'extra_nvcc_flags = ["--fmad=false"]\n',
    "kernels/hw/common/k.cu": "",
    "kernels/hw/common/tile.cuh": "",
    "kernels/hw/m/plain/own.cu": "",
    "kernels/hw/m/shadow/k.cu": "",
    "kernels/hw/m/header/tile.cuh": "",
    "kernels/hw/m/header/KERNEL.toml": '[build]\nextra_nvcc_flags = ["-DHDIM=64"]\n',
    "kernels/hw/m/nested/detail/x.cuh": "",
    "kernels/hw/m/nested/own.cu": "",
}
COMMON = "kernels/hw/common"


def requests(root: Path, *paths: str, targets: tuple[str, ...] = ()) -> list[CompileRequest]:
    write_files(root, {**TREE})
    trees = read_trees(root, [COMMON])
    return plan(paths, root, trees, Settings(targets=list(targets)))


def test_a_common_file_is_compiled_for_each_target_that_does_not_shadow_it(tmp_path: Path) -> None:
    found = requests(tmp_path, f"{COMMON}/k.cu")
    by_target = {request.targets: request for request in found}
    assert {names[0] for names in by_target} == {
        "hw/m/plain",
        "hw/m/header",
        "hw/m/nested",
    }
    assert {request.arch for request in found} == {"sm_121"}
    assert by_target["hw/m/header",].flags == ("--fmad=false", "-DHDIM=64")
    assert by_target["hw/m/header",].include_paths == ("kernels/hw/m/header", COMMON)
    assert by_target["hw/m/nested",].include_paths == ("kernels/hw/m/nested", COMMON)
    assert by_target["hw/m/plain",].include_paths == (COMMON,)


def test_a_common_file_that_no_leaf_has_is_compiled_alone(tmp_path: Path) -> None:
    files = {
        "kernels/a/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
        "kernels/a/common/k.cu": "",
        "kernels/b/HARDWARE.toml": '[hardware]\narch = "sm_90"\ninherits = "a"\n',
        "kernels/b/m/q/own.cu": "",
    }
    write_files(tmp_path, files)
    trees = read_trees(tmp_path, ["kernels/a/common", "kernels/b/m/q"])
    found = plan(["kernels/a/common/k.cu"], tmp_path, trees, Settings())
    assert {(request.arch, request.targets) for request in found} == {
        ("sm_121", ("a/common",)),
        ("sm_90", ("b/m/q",)),
    }


def test_targets_without_headers_of_their_own_share_a_compile(tmp_path: Path) -> None:
    write_files(tmp_path, {"kernels/hw/m/other/own.cu": ""})
    found = requests(tmp_path, f"{COMMON}/k.cu")
    shared = {
        (request.include_paths, request.flags)
        for request in found
        if request.targets in (("hw/m/other",), ("hw/m/plain",))
    }
    assert len(shared) == 1


def test_the_archs_of_the_settings_beat_those_of_the_tree(tmp_path: Path) -> None:
    path = "kernels/hw/m/shadow/k.cu"
    found = requests(tmp_path, path, targets=("sm_90", "sm_121f"))
    assert [(request.arch, request.targets) for request in found] == [
        ("sm_90", ("hw/m/shadow",)),
        ("sm_121f", ("hw/m/shadow",)),
    ]


def test_a_file_of_no_tree_is_compiled_for_the_default_arch(tmp_path: Path) -> None:
    write_files(tmp_path, {"src/a.cu": ""})
    assert requests(tmp_path, "src/a.cu") == [CompileRequest("src/a.cu", str(tmp_path))]


def test_headers_and_host_files_are_not_compiled_alone(tmp_path: Path) -> None:
    assert requests(tmp_path, f"{COMMON}/tile.cuh", "src/a.cpp", "src/b.h") == []


def test_what_is_no_source_changes_nothing_for_those_after_it(tmp_path: Path) -> None:
    kernel = f"{COMMON}/k.cu"
    assert requests(tmp_path, f"{COMMON}/tile.cuh", kernel) == requests(tmp_path, kernel)
