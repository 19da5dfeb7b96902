"""KernelTree: hardware folders, layers, leaves and targets, as plain data.

Reading folders and manifests into it is `cudalint.tree.read`; the grammar is
that of `docs/tree.md`. The rules CU4 judge it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cudalint.finding import Span


class Value(msgspec.Struct, frozen=True):
    """A value of a manifest with its place: `span` the value, `key_span` its key."""

    value: Any
    span: Span
    key_span: Span


class ManifestFault(msgspec.Struct, frozen=True, order=True):
    """Something wrong in a manifest or a layer, at its exact place (CU406).

    `kind` is the id of CU406's message, which `arguments` fill.
    """

    span: Span
    kind: str
    arguments: tuple[str, ...] = ()


class Manifest(msgspec.Struct, frozen=True):
    """A KERNEL.toml. Rows that have a fault are in `faults` only.

    `shadow` and `modules` map a key to its text; a `shadow_exempt` value is a
    tuple of one `Value` for each entry point. `use` are paths relative to the
    hardware folder. A value of `flags` is a tuple: the arguments of one nvcc
    flag that passed the allow-list. `includes` are the `-I` folders, relative
    to the project root. `unjudged` holds the keys of shadow rows with a fault.
    `shadow_table` runs from the `[shadow]` header to its last row, None where
    there is no such header. A file that is no TOML, or that could not be read,
    has `readable` false and is otherwise empty.
    """

    path: str
    modules: dict[str, Value] = {}
    shadow: dict[str, Value] = {}
    shadow_exempt: dict[str, Value] = {}
    use: tuple[Value, ...] = ()
    flags: tuple[Value, ...] = ()
    includes: tuple[str, ...] = ()
    faults: tuple[ManifestFault, ...] = ()
    unjudged: frozenset[str] = frozenset()
    shadow_table: Span | None = None
    readable: bool = True


class Layer(msgspec.Struct, frozen=True):
    """One folder of a target: a leaf or a `common/`.

    `sources` maps a stem to the path of its `.cu`; `headers` a file name to its
    path (both relative to the project root); files brought by `use` included,
    and `used` maps the path of such a file to its row in the manifest.
    """

    path: str
    kind: str  # "leaf" or "common"
    sources: dict[str, str]
    headers: dict[str, str]
    manifest: Manifest | None = None
    used: dict[str, Value] = {}


class Hardware(msgspec.Struct, frozen=True):
    """A `<hw>/` folder with what HARDWARE.toml says; `arch` None when unknown.

    `flags` and `includes` are as in `Manifest`; `inherits_span` is where
    `inherits` stands.
    """

    path: str
    name: str
    arch: str | None
    inherits: str | None
    flags: tuple[Value, ...]
    includes: tuple[str, ...] = ()
    faults: tuple[ManifestFault, ...] = ()
    inherits_span: Span | None = None


class OtherHardware(msgspec.Struct, frozen=True):
    """A `<hw>/` folder that is not for CUDA.

    `why` is what tells: its vendor, arch or name. `declared` is false for a
    folder with no HARDWARE.toml, of which the name alone says it.
    """

    path: str
    why: str
    declared: bool


class Target(msgspec.Struct, frozen=True):
    """What one engine build compiles: layers, the most specific first.

    A `common/` alone is a target as well (`leaf` is ""). `sources` and
    `headers` are what is in force after shadowing: stem or file name to path.
    `modules` maps a stem to its module name. `flags` and `includes` (folders
    relative to the project root) are what nvcc gets, in order.
    """

    name: str
    hardware: Hardware
    leaf: str
    layers: tuple[Layer, ...]
    sources: dict[str, str]
    headers: dict[str, str]
    modules: dict[str, str]
    flags: tuple[str, ...]
    includes: tuple[str, ...] = ()


class KernelTree(msgspec.Struct, frozen=True):
    """One tree: a folder with `<hw>/common/` below it, relative to the project root.

    `root` is "." for the project root itself. `faults` are those that lie in no
    KERNEL.toml and no HARDWARE.toml: of a MODEL.toml, and symbolic links.
    `manifests` are the paths of all its TOML files.
    """

    root: str
    hardware: tuple[Hardware, ...]
    targets: tuple[Target, ...]
    manifests: tuple[str, ...] = ()
    faults: tuple[ManifestFault, ...] = ()
