"""KERNEL.toml, read into a `Manifest`: each row judged by itself, each fault at its place.

The TOML itself is `cudalint.tree.toml`; HARDWARE.toml and MODEL.toml are
`cudalint.tree.hardware`. Whether a row is true of the tree is for the rules.
"""

from __future__ import annotations

import posixpath

from cudalint.finding import Span
from cudalint.tree.flags import parse_flags
from cudalint.tree.folders import Folders, join
from cudalint.tree.model import Manifest, ManifestFault, Value
from cudalint.tree.toml import Item, SyntaxFault, kind_of, read_toml

_KEYS: dict[str, tuple[str, ...]] = {
    "build": ("extra_nvcc_flags",),
    "modules": (),
    "sources": ("use",),
    "shadow": (),
    "shadow_exempt": (),
}
_OWNERS = {key: table for table, keys in _KEYS.items() for key in keys}


def read_manifest(path: str, tree_root: str, folders: Folders) -> Manifest:
    """Read the KERNEL.toml at `path`, in the tree at `tree_root`."""
    data = folders.read(path)
    if data is None:
        return Manifest(path, readable=False)
    document = read_toml(path, data)
    if isinstance(document, SyntaxFault):
        return Manifest(path, faults=(syntax_fault(document),), readable=False)
    return _Reader(path, tree_root, folders).manifest(document)


def syntax_fault(fault: SyntaxFault) -> ManifestFault:
    """The fault of a file that is no TOML."""
    return ManifestFault(fault.span, "syntax", (fault.problem,))


def wrong_type(name: str, wanted: str, item: Item) -> ManifestFault:
    """The fault of a key `name` whose value is of another type than it must be."""
    return ManifestFault(item.span, "wrong-type", (name, wanted, kind_of(item.value)))


def strings(name: str, item: Item, faults: list[ManifestFault]) -> list[tuple[str, Item]] | None:
    """The strings of an array, each with its place; None, and faults, if it is not one."""
    if item.elements is None:
        faults.append(wrong_type(name, "an array of strings", item))
        return None
    wrong = [element for element in item.elements if not isinstance(element.value, str)]
    faults.extend(wrong_type(name, "an array of strings", element) for element in wrong)
    return [(e.value, e) for e in item.elements if isinstance(e.value, str)]


def read_flags(
    item: Item, tree_root: str, folders: Folders, faults: list[ManifestFault]
) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    """The allowed flags of an `extra_nvcc_flags`, and its include folders.

    A folder of `-I` is relative to the manifest's own folder.
    """
    found = strings("extra_nvcc_flags", item, faults) or []
    home = posixpath.dirname(item.span.path)
    flags: list[Value] = []
    includes: list[str] = []
    for flag in parse_flags([text for text, _ in found]):
        first, last = found[flag.first][1].span, found[flag.last][1].span
        span = Span(first.path, first.start, last.end)
        if flag.problem:
            faults.append(ManifestFault(span, flag.problem, (flag.text,)))
        elif flag.arguments:
            flags.append(Value(flag.arguments, span, item.key_span))
        for folder in flag.includes:
            path = join(home, folder)
            if folders.kind(path, tree_root) == "folder":
                includes.append(path)
            else:
                faults.append(ManifestFault(span, "include-not-in-tree", (flag.text,)))
    return tuple(flags), tuple(includes)


def closest(word: str, known: tuple[str, ...]) -> str | None:
    """The name in `known` that `word` was probably meant to be."""
    from difflib import get_close_matches

    matches = get_close_matches(word.lower(), known, n=1)
    return matches[0] if matches else None


class _Reader:
    def __init__(self, path: str, tree_root: str, folders: Folders) -> None:
        self._path = path
        self._tree_root = tree_root
        self._folders = folders
        self._faults: list[ManifestFault] = []
        self._unjudged: set[str] = set()

    def manifest(self, document: Item) -> Manifest:
        """The manifest that the document holds."""
        tables = self._tables(document)
        build, sources = tables.get("build"), tables.get("sources")
        extra, used = self._known(build, "build"), self._known(sources, "sources")
        flags, includes = ((), ()) if extra is None else self._flags(extra)
        shadow = tables.get("shadow")
        return Manifest(
            path=self._path,
            modules=self._texts("modules", tables.get("modules")),
            shadow=self._texts("shadow", shadow),
            shadow_exempt=self._exempt(tables.get("shadow_exempt")),
            use=() if used is None else self._use(used),
            flags=flags,
            includes=includes,
            faults=tuple(sorted(self._faults)),
            unjudged=frozenset(self._unjudged),
            shadow_table=None if shadow is None else _under_header(shadow),
        )

    def _tables(self, document: Item) -> dict[str, Item]:
        tables: dict[str, Item] = {}
        for key, item in (document.table or {}).items():
            if key not in _KEYS:
                self._unknown(key, item)
            elif item.table is None:
                self._faults.append(wrong_type(key, "a table", item))
            else:
                tables[key] = item
        return tables

    def _unknown(self, key: str, item: Item) -> None:
        """A key at top level that means nothing there."""
        owner = _OWNERS.get(key)
        if owner is not None:
            self._fault(item, "misplaced-key", key, f"[{owner}]")
            return
        table = closest(key, tuple(_KEYS)) if item.table is not None else None
        if table is not None:
            self._fault(item, "unknown-table-near", f"[{key}]", f"[{table}]")
            if table == "shadow":
                self._unjudged.update(item.table or ())
            return
        near = closest(key, tuple(_OWNERS))
        if near is not None and item.table is None:
            self._fault(item, "misplaced-key-near", key, near, f"[{_OWNERS[near]}]")
        elif item.table is not None:
            self._fault(item, "unknown-table", f"[{key}]")
        else:
            self._fault(item, "unknown-key", key)

    def _known(self, table: Item | None, name: str) -> Item | None:
        """The value of the one key that the table `name` takes; other keys are faults."""
        (wanted,) = _KEYS[name]
        found = None
        for key, item in (table.table or {}).items() if table is not None else ():
            owner = _OWNERS.get(key)
            if key == wanted:
                found = item
            elif owner is not None:
                self._fault(item, "misplaced-key", key, f"[{owner}]")
            elif (near := closest(key, tuple(_OWNERS))) == wanted:
                self._fault(item, "unknown-key-near", key, f"[{name}]", near)
            else:
                self._fault(item, "unknown-key-in", key, f"[{name}]")
        return found

    def _fault(self, item: Item, kind: str, *arguments: str) -> None:
        self._faults.append(ManifestFault(item.key_span, kind, arguments))

    def _flags(self, item: Item) -> tuple[tuple[Value, ...], tuple[str, ...]]:
        return read_flags(item, self._tree_root, self._folders, self._faults)

    def _texts(self, name: str, table: Item | None) -> dict[str, Value]:
        """The rows of a table whose values are strings."""
        rows: dict[str, Value] = {}
        for key, item in (table.table or {}).items() if table is not None else ():
            if isinstance(item.value, str):
                if name == "modules" and not item.value.strip():
                    self._faults.append(ManifestFault(item.span, "blank-module", (key,)))
                else:
                    rows[key] = Value(item.value, item.span, item.key_span)
                continue
            if item.table is None:
                self._faults.append(wrong_type(key, "a string", item))
                unjudged = key
            else:
                unjudged = ".".join((key, *_first_path(item)))
                self._fault(item, "unquoted-file-name", unjudged)
            if name == "shadow":
                self._unjudged.add(unjudged)
        return rows

    def _exempt(self, table: Item | None) -> dict[str, Value]:
        rows: dict[str, Value] = {}
        for key, item in (table.table or {}).items() if table is not None else ():
            found = strings(key, item, self._faults)
            if found is not None and len(found) == len(item.elements or ()):
                names = tuple(Value(text, e.span, e.key_span) for text, e in found)
                rows[key] = Value(names, item.span, item.key_span)
        return rows

    def _use(self, item: Item) -> tuple[Value, ...]:
        found = strings("use", item, self._faults) or []
        return tuple(Value(text, e.span, e.key_span) for text, e in found)


def _under_header(table: Item) -> Span | None:
    """From a table's `[header]` to its last row; None for inline tables and dotted keys."""
    if table.span.start >= table.key_span.start:
        return None
    rows = (item.span.end for item in (table.table or {}).values())
    return Span(table.span.path, table.span.start, max(rows, default=table.key_span.end))


def _first_path(item: Item) -> list[str]:
    """The keys down to the first plain value of a table."""
    for key, inner in (item.table or {}).items():
        return [key, *_first_path(inner)]
    return []
