"""Layers: the source files of one folder, and those that `[sources] use` adds.

Which layers make a target is `cudalint.tree.targets`.
"""

from __future__ import annotations

import posixpath
from typing import Literal

import msgspec

from cudalint.finding import Span
from cudalint.tree.folders import Folders, inside, join
from cudalint.tree.landmarks import HARDWARE, MANIFEST, MODEL
from cudalint.tree.manifest import read_manifest
from cudalint.tree.model import Layer, Manifest, ManifestFault, Value

_HEADERS = (".cuh", ".h", ".hpp", ".inl")


def read_layer(
    path: str, kind: Literal["leaf", "common"], hardware: str, tree_root: str, folders: Folders
) -> Layer:
    """The layer at the folder `path`, of the hardware folder `hardware`."""
    listing = folders.list(path)
    manifest = None
    if MANIFEST in listing.files:
        manifest = read_manifest(posixpath.join(path, MANIFEST), tree_root, folders)
    sources: dict[str, str] = {}
    headers: dict[str, str] = {}
    for name in listing.files:
        add_file(posixpath.join(path, name), sources, headers)
    used: dict[str, Value] = {}
    faults: list[ManifestFault] = []
    for row in manifest.use if manifest is not None else ():
        file = join(hardware, row.value)
        fault = _fault_of_use(row, file, tree_root, folders, sources, headers)
        if fault is not None:
            faults.append(fault)
        else:
            add_file(file, sources, headers)
            used[file] = row
    if manifest is not None:
        manifest = _with_faults(manifest, faults)
    return Layer(path, kind, sources, headers, manifest, used)


def link_faults(path: str, hardware: str, folders: Folders) -> list[ManifestFault]:
    """A fault for each symbolic link in the folder `path` of a hardware folder.

    It stands in the nearest manifest up to the hardware's, since what a link
    leads to is not looked at; at the link itself only where there is none.
    """
    links = [posixpath.join(path, name) for name in folders.list(path).links]
    place = _nearest_manifest(path, hardware, folders)
    return [ManifestFault(Span(place or link, 0, 0), "symbolic-link", (link,)) for link in links]


def has_sources(path: str, folders: Folders) -> bool:
    """Whether a folder is a leaf: it holds a source file or a KERNEL.toml."""
    return any(
        name == MANIFEST or name.endswith((".cu", *_HEADERS)) for name in folders.list(path).files
    )


def add_file(path: str, sources: dict[str, str], headers: dict[str, str]) -> None:
    """Enter a file under the key by which a more specific layer replaces it."""
    name = posixpath.basename(path)
    if name.endswith(".cu"):
        sources[name[: -len(".cu")]] = path
    elif name.endswith(_HEADERS):
        headers[name] = path


def _fault_of_use(
    row: Value,
    file: str,
    tree_root: str,
    folders: Folders,
    sources: dict[str, str],
    headers: dict[str, str],
) -> ManifestFault | None:
    kind = folders.kind(file, tree_root)
    if kind != "file":
        problems = {"outside": "use-outside", "link": "use-link"}
        return ManifestFault(row.span, problems.get(kind, "use-absent"), (row.value,))
    name = posixpath.basename(file)
    if not name.endswith((".cu", *_HEADERS)):
        return ManifestFault(row.span, "use-no-source", (row.value,))
    there = headers.get(name) or sources.get(posixpath.splitext(name)[0])
    if there is not None and (name.endswith(".cu") or name in headers):
        return ManifestFault(row.span, "use-twice", (row.value, there))
    return None


def _nearest_manifest(path: str, hardware: str, folders: Folders) -> str | None:
    at = path
    while inside(at, hardware):
        for name in (MANIFEST, MODEL, HARDWARE):
            if name in folders.list(at).files:
                return posixpath.join(at, name)
        if not at:
            break
        at = posixpath.dirname(at)
    return None


def _with_faults(manifest: Manifest, faults: list[ManifestFault]) -> Manifest:
    return msgspec.structs.replace(manifest, faults=tuple(sorted((*manifest.faults, *faults))))
