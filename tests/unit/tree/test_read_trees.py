"""Trees as read from disk: roots, layers, targets, inheritance, what is left alone."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.finding import Span
from cudalint.tree.model import KernelTree, Target
from cudalint.tree.read import read_trees, tree_files

ARCH = '[hardware]\narch = "sm_121"\n'
HOPPER = '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n'


def trees_of(root: Path, files: dict[str, str | bytes]) -> tuple[KernelTree, ...]:
    write_files(root, files)
    return read_trees(root, {posixpath.dirname(path) for path in files})


def only(root: Path, files: dict[str, str | bytes]) -> KernelTree:
    (tree,) = trees_of(root, files)
    return tree


def target(tree: KernelTree, name: str) -> Target:
    (found,) = (t for t in tree.targets if t.name == name)
    return found


@pytest.mark.parametrize("prefix", ["", "kernels/", "src/cuda/kernels/"])
def test_a_tree_s_root_may_have_any_name(tmp_path: Path, prefix: str) -> None:
    files: dict[str, str | bytes] = {
        f"{prefix}gb10/HARDWARE.toml": ARCH,
        f"{prefix}gb10/common/a.cu": "",
        f"{prefix}gb10/common/b.cu": "",
        f"{prefix}gb10/common/t.cuh": "",
        f"{prefix}gb10/m/fp8/a.cu": "",
        f"{prefix}gb10/m/fp8/u.h": "",
    }
    tree = only(tmp_path, files)
    assert tree.root == (prefix.rstrip("/") or ".")
    assert [t.name for t in tree.targets] == ["gb10/common", "gb10/m/fp8"]
    leaf = target(tree, "gb10/m/fp8")
    assert leaf.sources == {
        "a": f"{prefix}gb10/m/fp8/a.cu",
        "b": f"{prefix}gb10/common/b.cu",
    }
    assert leaf.headers == {
        "t.cuh": f"{prefix}gb10/common/t.cuh",
        "u.h": f"{prefix}gb10/m/fp8/u.h",
    }
    assert leaf.hardware.arch == "sm_121"
    assert leaf.includes == (f"{prefix}gb10/m/fp8", f"{prefix}gb10/common")
    assert tree_files([tree]) == tuple(sorted(files))


@pytest.mark.parametrize(
    "folder", ["gb10", "gb10/common", "gb10/m", "gb10/m/fp8", "gb10/m/fp8/", "./gb10/common"]
)
def test_any_folder_of_a_tree_leads_to_it(tmp_path: Path, folder: str) -> None:
    write_files(tmp_path, {"gb10/common/a.cu": "", "gb10/m/fp8/a.cu": "", "hopper/common/a.cu": ""})
    (tree,) = read_trees(tmp_path, [folder])
    assert [hw.name for hw in tree.hardware] == ["gb10", "hopper"]


def test_a_project_root_that_is_a_hardware_folder_has_no_siblings(tmp_path: Path) -> None:
    write_files(tmp_path, {"gb10/common/a.cu": "", "gb10/m/fp8/a.cu": "", "hopper/common/a.cu": ""})
    (tree,) = read_trees(tmp_path / "gb10", ["common", "m/fp8"])
    assert [t.name for t in tree.targets] == ["gb10/common", "gb10/m/fp8"]
    assert target(tree, "gb10/m/fp8").sources == {"a": "m/fp8/a.cu"}


@pytest.mark.parametrize(
    "files",
    [
        {"src/common/util.h": "", "src/net/http/util.h": ""},
        {"src/common/util.cpp": "", "src/a.cu": ""},
        {"gb10/m/fp8/a.cu": ""},
        {"a.cu": ""},
        {"metal/common/a.cu": ""},
        {"strix-hip/common/a.cu": "", "strix-hip/m/fp8/a.cu": ""},
        {"amd/common/a.cu": "", "amd/HARDWARE.toml": '[hardware]\nvendor = "amd"\n'},
        {"strix/common/a.cu": "", "strix/HARDWARE.toml": '[hardware]\narch = "gfx1151"\n'},
    ],
)
def test_what_is_no_cuda_tree(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    assert trees_of(tmp_path, files) == ()


def test_layers_of_hardware_that_inherits(tmp_path: Path) -> None:
    tree = only(
        tmp_path,
        {
            "gb10/HARDWARE.toml": ARCH + '[build]\nextra_nvcc_flags = ["-DBASE"]\n',
            "gb10/common/a.cu": "",
            "gb10/common/b.cu": "",
            "gb10/common/KERNEL.toml": '[build]\nextra_nvcc_flags = ["-DX=1", "--fmad=false"]\n',
            "gb10/m/fp8/a.cu": "",
            "gb10/m/fp8/c.cu": "",
            "gb10/other/fp8/d.cu": "",
            "hopper/HARDWARE.toml": HOPPER + '[build]\nextra_nvcc_flags = ["-lineinfo"]\n',
            "hopper/common/b.cu": "",
            "hopper/m/fp8/c.cu": "",
            "hopper/m/fp8/KERNEL.toml": '[build]\nextra_nvcc_flags = ["-D", "X=1", "-DY"]\n',
        },
    )
    leaf = target(tree, "hopper/m/fp8")
    assert [layer.path for layer in leaf.layers] == [
        "hopper/m/fp8",
        "gb10/m/fp8",
        "hopper/common",
        "gb10/common",
    ]
    assert leaf.sources == {
        "a": "gb10/m/fp8/a.cu",
        "b": "hopper/common/b.cu",
        "c": "hopper/m/fp8/c.cu",
    }
    assert leaf.flags == ("-DBASE", "-lineinfo", "-DX=1", "--fmad=false", "-DY")
    assert leaf.hardware.arch == "sm_90a"
    names = [t.name for t in tree.targets]
    assert "gb10/other/fp8" in names
    assert "hopper/other/fp8" not in names


def test_a_model_may_use_another_s_kernels(tmp_path: Path) -> None:
    tree = only(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/big/fp8/a.cu": "",
            "gb10/big/int4/a.cu": "",
            "gb10/small/MODEL.toml": '[model]\nkernel_source = "big"\nlayers = 12\n',
            "gb10/small/int4/a.cu": "",
        },
    )
    assert target(tree, "gb10/small/fp8").sources == {"a": "gb10/big/fp8/a.cu"}
    assert target(tree, "gb10/small/int4").sources == {"a": "gb10/small/int4/a.cu"}


def test_an_arch_is_inherited_and_must_look_like_one(tmp_path: Path) -> None:
    tree = only(
        tmp_path,
        {
            "gb10/HARDWARE.toml": '[hardware]\narch = "compute_121f"\n',
            "gb10/common/a.cu": "",
            "spark/HARDWARE.toml": '[hardware]\ninherits = "gb10"\n',
            "spark/common/b.cu": "",
            "odd/HARDWARE.toml": '[hardware]\narch = "-o /tmp/x"\ninherits = "odd"\n',
            "odd/common/b.cu": "",
        },
    )
    archs = {hw.name: hw.arch for t in tree.targets for hw in [t.hardware]}
    assert archs == {"gb10": "sm_121f", "spark": "sm_121f", "odd": None}
    faults = {hw.name: [(f.kind, f.arguments) for f in hw.faults] for hw in tree.hardware}
    assert faults == {"gb10": [], "spark": [], "odd": [("arch-unknown", ("-o /tmp/x",))]}


@pytest.mark.parametrize("arch", ["sm90", "SM_90", "sm_9x", "sm_90 --run", "", "compute_", "90"])
def test_an_arch_that_is_none_is_a_fault_at_its_value(tmp_path: Path, arch: str) -> None:
    text = f'[hardware]\narch = "{arch}"\n'
    tree = only(tmp_path, {"gb10/HARDWARE.toml": text, "gb10/common/a.cu": ""})
    (fault,) = tree.hardware[0].faults
    assert (fault.kind, fault.arguments) == ("arch-unknown", (arch,))
    assert text[fault.span.start : fault.span.end] == f'"{arch}"'
    assert tree.hardware[0].arch is None


def test_inheriting_from_what_is_not_there_is_a_fault(tmp_path: Path) -> None:
    text = '[hardware]\narch = "sm_90a"\ninherits = "nope"\n'
    tree = only(tmp_path, {"gb10/HARDWARE.toml": text, "gb10/common/a.cu": ""})
    (fault,) = tree.hardware[0].faults
    assert (fault.kind, fault.arguments) == ("inherits-absent", ("nope",))
    assert text[fault.span.start : fault.span.end] == '"nope"'


def inheriting(**parents: str) -> dict[str, str]:
    """Hardware folders, each with whom it inherits from."""
    files = {}
    for name, parent in parents.items():
        files[f"{name}/HARDWARE.toml"] = f'[hardware]\narch = "sm_90"\ninherits = "{parent}"\n'
        files[f"{name}/common/{name}.cu"] = ""
    return files


@pytest.mark.parametrize(
    ("parents", "circles"),
    [
        ({"a": "a"}, ["a, a"]),
        ({"b": "a", "a": "b"}, ["a, b, a"]),
        ({"a": "c", "b": "c", "c": "d", "d": "b"}, ["b, c, d, b"]),
        ({"a": "b", "b": "a", "x": "y", "y": "x", "z": "x"}, ["a, b, a", "x, y, x"]),
        ({"a": "b", "b": "c", "c": "gone"}, []),
    ],
)
def test_a_circle_of_inheritance_is_one_fault(
    tmp_path: Path, parents: dict[str, str], circles: list[str]
) -> None:
    tree = only(tmp_path, inheriting(**parents))
    found = [fault for fault in tree.faults if fault.kind == "inherits-circle"]
    assert [fault.arguments[1] for fault in found] == circles
    for fault in found:
        first, second = fault.arguments[1].split(", ")[:2]
        assert fault.arguments[0] == first
        assert fault.span.path == f"{first}/HARDWARE.toml"
        text = inheriting(**parents)[fault.span.path]
        assert text[fault.span.start : fault.span.end] == f'"{second}"'


def test_use_brings_files_of_the_tree(tmp_path: Path) -> None:
    use = '[sources]\nuse = ["big/fp8/b.cu", "../hopper/common/h.cuh"]\n'
    tree = only(
        tmp_path,
        {
            "kernels/gb10/common/a.cu": "",
            "kernels/gb10/big/fp8/b.cu": "",
            "kernels/gb10/small/fp8/KERNEL.toml": use,
            "kernels/hopper/common/h.cuh": "",
            "kernels/hopper/common/x.cu": "",
        },
    )
    leaf = target(tree, "gb10/small/fp8")
    assert leaf.sources["b"] == "kernels/gb10/big/fp8/b.cu"
    assert leaf.headers == {"h.cuh": "kernels/hopper/common/h.cuh"}
    assert sorted(leaf.layers[0].used) == [
        "kernels/gb10/big/fp8/b.cu",
        "kernels/hopper/common/h.cuh",
    ]


def test_no_symbolic_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_files(outside, {"a.cu": "", "KERNEL.toml": '[modules]\na = "secret"\n'})
    root = tmp_path / "project"
    write_files(
        root,
        {
            "gb10/HARDWARE.toml": ARCH,
            "gb10/common/a.cu": "",
            "gb10/m/fp8/b.cu": "",
            "gb10/m/int4/KERNEL.toml": '[sources]\nuse = ["linked/a.cu", "common/l.cu"]\n',
        },
    )
    (root / "gb10/linked").symlink_to(outside)
    (root / "gb10/common/l.cu").symlink_to(outside / "a.cu")
    (root / "gb10/m/fp8/KERNEL.toml").symlink_to(outside / "KERNEL.toml")
    (root / "gb10/m/loop").symlink_to(root / "gb10/m")
    (root / "hopper").symlink_to(root / "gb10")
    (tree,) = read_trees(root, ["gb10/common", "gb10/m/fp8", "gb10/m/int4"])
    assert [hw.name for hw in tree.hardware] == ["gb10"]
    assert all(not path.startswith("../") for path in tree_files([tree]))
    assert target(tree, "gb10/m/fp8").layers[0].manifest is None
    assert target(tree, "gb10/m/int4").sources == {"a": "gb10/common/a.cu"}
    links = {fault.arguments[0] for fault in tree.faults if fault.kind == "symbolic-link"}
    assert links == {
        "hopper",
        "gb10/linked",
        "gb10/common/l.cu",
        "gb10/m/loop",
        "gb10/m/fp8/KERNEL.toml",
    }
    manifest = target(tree, "gb10/m/int4").layers[0].manifest
    assert manifest is not None
    assert [fault.kind for fault in manifest.faults] == ["use-link", "use-link"]


@pytest.mark.parametrize(
    "data", [b"[shadow\n", b"\xff\xfe[\0s\0", b"", b"a" * 1_000_001], ids=["toml", "16", "0", "big"]
)
def test_odd_manifests_don_t_stop_the_reading(tmp_path: Path, data: bytes) -> None:
    tree = only(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/m/fp8/a.cu": "",
            "gb10/m/fp8/KERNEL.toml": data,
            "gb10/m/MODEL.toml": data,
            "gb10/HARDWARE.toml": data,
        },
    )
    manifest = target(tree, "gb10/m/fp8").layers[0].manifest
    assert manifest is not None
    assert manifest.readable == (data == b"")


def test_a_fifo_is_no_manifest(tmp_path: Path) -> None:
    write_files(tmp_path, {"gb10/common/a.cu": ""})
    os.mkfifo(tmp_path / "gb10/common/KERNEL.toml")
    (tree,) = read_trees(tmp_path, ["gb10/common"])
    assert tree.targets[0].layers[0].manifest is None


def test_include_folders_and_flags_of_a_target(tmp_path: Path) -> None:
    tree = only(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/common/deep/t.cuh": "",
            "gb10/m/fp8/b.cu": "",
            "gb10/m/fp8/KERNEL.toml": "[build]\n"
            'extra_nvcc_flags = ["-DX", "-I../../common/deep"]\n',
        },
    )
    leaf = target(tree, "gb10/m/fp8")
    assert leaf.flags == ("-DX",)
    assert leaf.includes == ("gb10/m/fp8", "gb10/common", "gb10/common/deep")
    assert target(tree, "gb10/common").flags == ()


@pytest.mark.parametrize(
    "name",
    ["cpu", "hip", "metal", "musa", "oneapi", "opencl", "rocm", "sycl", "vulkan", "webgpu", "xpu"],
)
def test_folders_by_the_names_of_others(tmp_path: Path, name: str) -> None:
    assert trees_of(tmp_path, {f"big-{name}/common/a.cu": "", f"{name.upper()}/m/a.cu": ""}) == ()


@pytest.mark.parametrize(
    ("says", "is_tree"),
    [
        ('vendor = "nvidia"', True),
        ('vendor = "NVIDIA"', True),
        ('vendor = "cuda"', True),
        ('vendor = "amd"', False),
        ('arch = "sm_90"', True),
        ('arch = "gfx1151"', False),
        ('arch = "apple-m3"', False),
        ('arch = "Metal3"', False),
        ('arch = "xe2"', False),
    ],
)
def test_what_a_hardware_file_says_of_the_vendor(tmp_path: Path, says: str, is_tree: bool) -> None:
    files = {"big/common/a.cu": "", "big/HARDWARE.toml": f"[hardware]\n{says}\n"}
    assert bool(trees_of(tmp_path, {**files})) is is_tree


@pytest.mark.parametrize("name", ["KERNEL.toml", "a.cu", "a.cuh", "a.h", "a.hpp", "a.inl"])
def test_what_makes_a_leaf(tmp_path: Path, name: str) -> None:
    tree = only(tmp_path, {"gb10/common/c.cu": "", f"gb10/m/fp8/{name}": ""})
    assert [t.name for t in tree.targets] == ["gb10/common", "gb10/m/fp8"]
    layer = target(tree, "gb10/m/fp8").layers[0]
    found = [*layer.sources.values(), *layer.headers.values()]
    assert found == ([] if name == "KERNEL.toml" else [f"gb10/m/fp8/{name}"])


@pytest.mark.parametrize("name", ["a.cpp", "README.md", "a.cu.orig"])
def test_what_makes_no_leaf(tmp_path: Path, name: str) -> None:
    tree = only(tmp_path, {"gb10/common/c.cu": "", f"gb10/m/fp8/{name}": ""})
    assert [t.name for t in tree.targets] == ["gb10/common"]


@pytest.mark.parametrize(
    ("manifests", "place"),
    [
        ((), "gb10/m/fp8/l.cu"),
        (("gb10/HARDWARE.toml",), "gb10/HARDWARE.toml"),
        (("gb10/HARDWARE.toml", "gb10/m/MODEL.toml"), "gb10/m/MODEL.toml"),
        (("gb10/m/MODEL.toml", "gb10/m/fp8/KERNEL.toml"), "gb10/m/fp8/KERNEL.toml"),
    ],
)
def test_a_link_is_a_fault_of_the_nearest_manifest(
    tmp_path: Path, manifests: tuple[str, ...], place: str
) -> None:
    files = {"gb10/common/a.cu": "", "gb10/m/fp8/a.cu": "", **dict.fromkeys(manifests, "")}
    write_files(tmp_path, {**files})
    (tmp_path / "gb10/m/fp8/l.cu").symlink_to("a.cu")
    (tree,) = read_trees(tmp_path, ["gb10/common"])
    (fault,) = (fault for fault in tree.faults if fault.kind == "symbolic-link")
    assert (fault.span, fault.arguments) == (Span(place, 0, 0), ("gb10/m/fp8/l.cu",))


def test_a_folder_too_deep_leads_to_no_tree(tmp_path: Path) -> None:
    write_files(tmp_path, {"gb10/common/a.cu": "", "gb10/m/fp8/old/new/a.cu": ""})
    assert read_trees(tmp_path, ["gb10/m/fp8/old/new"]) == ()
