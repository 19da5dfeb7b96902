"""A unified diff of changed files, as `git apply` and `patch -p1` take it.

Bytes throughout: lines end at LF only, and what is no UTF-8 stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import diff_bytes, unified_diff

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_NO_END = b"\\ No newline at end of file\n"


def unified(path: str, old: bytes, new: bytes) -> Iterator[bytes]:
    """The lines of the diff of one file, each with its LF; none when nothing differs.

    `path` is what stands in the header after `a/` and `b/`.
    """
    before, after = _header_name("a/" + path), _header_name("b/" + path)
    lines = diff_bytes(unified_diff, _lines(old), _lines(new), before, after, lineterm=b"\n")
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n" + _NO_END


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _header_name(path: str) -> bytes:
    """A name as diffs have it: quoted where it holds what could be read as something else.

    After one with a space comes a tab, which says where it ends.
    """
    name = os.fsencode(path)
    if re.search(rb'[\x00-\x1f"\\\x7f]', name):
        return b'"' + b"".join(map(_escaped, name)) + b'"'
    return name + b"\t" if b" " in name else name


def _escaped(byte: int) -> bytes:
    if byte in _ESCAPES:
        return b"\\" + _ESCAPES[byte].encode()
    return b"\\%03o" % byte if byte < 0x20 or byte >= 0x7F else bytes([byte])
