"""What HARDWARE.toml and MODEL.toml say.

These two files hold much that is none of our business; of their keys only the
ones that are used here are looked at. KERNEL.toml is `cudalint.tree.manifest`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from cudalint.regex import regex
from cudalint.tree.folders import Folders
from cudalint.tree.landmarks import HARDWARE, MODEL
from cudalint.tree.manifest import read_flags, syntax_fault, wrong_type
from cudalint.tree.model import Hardware, ManifestFault, OtherHardware, Value
from cudalint.tree.toml import Item, SyntaxFault, read_toml

_OTHER_VENDORS = frozenset(
    ("cpu", "hip", "metal", "musa", "oneapi", "opencl", "rocm", "sycl", "vulkan", "webgpu", "xpu")
)
_ARCH = regex(r"(?:sm|compute)_(\d{2,3}[af]?)")


def read_hardware(path: str, tree_root: str, folders: Folders) -> Hardware | OtherHardware:
    """The hardware folder at `path`."""
    name = posixpath.basename(path) or folders.root.name
    declared = HARDWARE in folders.list(path).files
    if _OTHER_VENDORS & set(re.split(r"[-_.]", name.lower())):
        return OtherHardware(path, f"its name, '{name}'", declared)
    document, faults = _document(posixpath.join(path, HARDWARE), folders)
    section, build = _table(document, "hardware", faults), _table(document, "build", faults)
    vendor = _text(section, "vendor", faults)
    arch = _text(section, "arch", faults)
    other = _other_vendor(vendor, arch)
    if other is not None:
        return OtherHardware(path, other, declared)
    flags: tuple[Value, ...] = ()
    includes: tuple[str, ...] = ()
    if build is not None and "extra_nvcc_flags" in build:
        flags, includes = read_flags(build["extra_nvcc_flags"], tree_root, folders, faults)
    known = _ARCH.fullmatch(arch or "")
    if arch is not None and not known:
        faults.append(_fault("arch-unknown", "arch", section, arch))
    inherits = _text(section, "inherits", faults)
    if inherits is not None and path and inherits not in folders.list(tree_root).folders:
        faults.append(_fault("inherits-absent", "inherits", section, inherits))
    return Hardware(
        path=path,
        name=name,
        arch=f"sm_{known[1]}" if known else None,
        inherits=inherits,
        flags=flags,
        includes=includes,
        faults=tuple(sorted(faults)),
        inherits_span=None if inherits is None else (section or {})["inherits"].span,
    )


def circles(hardware: Iterable[Hardware]) -> Iterator[ManifestFault]:
    """A fault for each circle of hardware folders that inherit from one another."""
    by_name = {hw.name: hw for hw in hardware}
    seen: set[str] = set()
    for start in by_name.values():
        way: dict[str, Hardware] = {}
        at: Hardware | None = start
        while at is not None and at.name not in seen:
            seen.add(at.name)
            way[at.name] = at
            at = by_name.get(at.inherits or "")
        if at is None or at.name not in way:
            continue
        names = list(way)
        circle = names[names.index(at.name) :]
        least = circle.index(min(circle))
        circle = [*circle[least:], *circle[: least + 1]]
        span = way[circle[0]].inherits_span
        assert span is not None
        yield ManifestFault(span, "inherits-circle", (circle[0], ", ".join(circle)))


def read_kernel_source(
    model: str, folders: Folders
) -> tuple[str | None, tuple[ManifestFault, ...]]:
    """The model whose kernels the model folder `model` uses, if its MODEL.toml names one."""
    document, faults = _document(posixpath.join(model, MODEL), folders)
    source = _text(_table(document, "model", faults), "kernel_source", faults)
    return source, tuple(sorted(faults))


def _other_vendor(vendor: str | None, arch: str | None) -> str | None:
    """What says that the hardware is not NVIDIA's."""
    if vendor is not None and vendor.lower() not in ("nvidia", "cuda"):
        return f"vendor '{vendor}'"
    if arch is not None and arch.lower().startswith(("gfx", "apple", "metal", "xe")):
        return f"arch '{arch}'"
    return None


def _fault(kind: str, key: str, section: dict[str, Item] | None, text: str) -> ManifestFault:
    return ManifestFault((section or {})[key].span, kind, (text,))


def _document(path: str, folders: Folders) -> tuple[Item | None, list[ManifestFault]]:
    folder, name = posixpath.split(path)
    if name not in folders.list(folder).files:
        return None, []
    data = folders.read(path)
    if data is None:
        return None, []
    document = read_toml(path, data)
    if isinstance(document, SyntaxFault):
        return None, [syntax_fault(document)]
    return document, []


def _table(document: Item | None, name: str, faults: list[ManifestFault]) -> dict[str, Item] | None:
    item = (document.table or {}).get(name) if document is not None else None
    if item is not None and item.table is None:
        faults.append(wrong_type(name, "a table", item))
    return item.table if item is not None else None


def _text(table: dict[str, Item] | None, key: str, faults: list[ManifestFault]) -> str | None:
    item = (table or {}).get(key)
    if item is None:
        return None
    if not isinstance(item.value, str):
        faults.append(wrong_type(key, "a string", item))
        return None
    return item.value
