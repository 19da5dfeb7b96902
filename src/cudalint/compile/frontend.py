"""Reading what nvcc, its front end and the host preprocessor say, line by line.

A pure function of text; ptxas' lines are read by `cudalint.compile.ptxas`.
Nothing here looks at a source file: paths are as the tools wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from cudalint.regex import regex

_EDG = regex(
    r"(?P<path>[^\s(].*?)\((?P<line>[0-9]{1,9})\): "
    r"(?P<kind>catastrophic error|error|warning|remark|note)(?: #(?P<number>[\w-]+))?: (?P<text>.*)"
)
_EDG_NOWHERE = regex(
    r"(?:At end of source: )?(?P<kind>catastrophic error|error|warning)"
    r"(?: #(?P<number>[\w-]+))?: (?P<text>.*)"
)
_GCC = regex(
    r"(?P<path>[^\s:][^:]*):(?P<line>[0-9]{1,9}):(?:(?P<column>[0-9]{1,9}):)? "
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)"
)
_DRIVER = regex(r"nvcc\s+(?P<kind>fatal|error|warning)\s*: (?P<text>.*)")
_PROGRAM = regex(
    r"(?P<text>(?:sh|gcc|g\+\+|c\+\+|clang|clang\+\+|cc1plus|cc1|cicc|cudafe\+\+)(?:: \d+)?: .*)"
)
_INSTANTIATED = regex(r"at line (?P<line>[0-9]{1,9})(?: of (?P<path>.+))?$")
_CARET = regex(r"\s*\^\s*$")
_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST_TEXT = 1000


class Place(msgspec.Struct, frozen=True):
    """A line of a file, as the tool wrote it."""

    path: str
    line: int


class Complaint(msgspec.Struct, frozen=True):
    """One error or warning with what surrounds it.

    `column` is the host compiler's own, 1-based, 0 if none. For nvcc's front end
    `echo` is the line that it repeats, with macros expanded and two characters
    of indent taken off, and `caret` the 0-based place in it, −1 for none.
    `context` are the places of "detected during instantiation", innermost first.
    `program` is "" when the words are about a place in a source file.
    """

    severity: Literal["error", "warning"]
    text: str
    path: str = ""
    line: int = 0
    column: int = 0
    number: str = ""
    echo: str = ""
    caret: int = -1
    context: tuple[Place, ...] = ()
    program: str = ""


def read_complaints(text: str) -> tuple[Complaint, ...]:
    """Every error and warning in `text`, in its order, each once."""
    return tuple(dict.fromkeys(_complaints(text.splitlines())))


def _complaints(lines: list[str]) -> Iterator[Complaint]:
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if ": " not in line or line.startswith("ptxas "):
            continue
        line = _CONTROL.sub("", line)
        if match := _EDG.match(line) or _EDG_NOWHERE.match(line):
            end = _block_end(lines, at)
            complaint = _from_edg(match, lines[at:end])
            if complaint is not None and not complaint.line and end < len(lines):
                complaint = _placed(complaint, lines[end])
            at = end
        else:
            complaint = _from_driver(line)
        if complaint is not None:
            yield complaint


def _block_end(lines: list[str], at: int) -> int:
    """Where the lines that belong to a front-end message end: blank line or next message."""
    while at < len(lines) and lines[at].startswith(" "):
        at += 1
    return at


def _severity(kind: str) -> Literal["error", "warning"]:
    return "warning" if kind in ("warning", "remark") else "error"


def _from_edg(match: re.Match[str], block: list[str]) -> Complaint | None:
    groups = match.groupdict()
    if groups["kind"] == "note":
        return None
    path, line = groups.get("path") or "", int(groups.get("line") or 0)
    caret_at = next((i for i, text in enumerate(block) if _CARET.fullmatch(text)), -1)
    echo, caret = "", -1
    if caret_at > 0:
        echo = block[caret_at - 1][2:]
        caret = block[caret_at].index("^") - 2
    details = block[: max(caret_at - 1, 0)]
    context = [
        Place(found["path"] or path, int(found["line"]))
        for text in block[caret_at + 1 :]
        if (found := _INSTANTIATED.search(text.rstrip()))
    ]
    words = [groups["text"].strip(), *(detail.strip() for detail in details)]
    return Complaint(
        severity=_severity(groups["kind"]),
        text=_CONTROL.sub("", "; ".join(words))[:_LONGEST_TEXT],
        path=path,
        line=line,
        number=groups["number"] or "",
        echo=echo,
        caret=caret,
        context=tuple(context),
    )


def _placed(complaint: Complaint, following: str) -> Complaint:
    """An error "at end of source" takes the place of the note after it."""
    note = _EDG.match(following)
    if note is None or note["kind"] != "note":
        return complaint
    return msgspec.structs.replace(complaint, path=note["path"], line=int(note["line"]))


def _from_driver(line: str) -> Complaint | None:
    """A message of one line: the host compiler's, nvcc's, or a program's that nvcc started."""
    if match := _GCC.match(line):
        if match["kind"] == "note":
            return None
        return Complaint(
            severity=_severity(match["kind"]),
            text=match["text"].strip()[:_LONGEST_TEXT],
            path=match["path"],
            line=int(match["line"]),
            column=int(match["column"] or 0),
        )
    if match := _DRIVER.match(line):
        text = match["text"].strip()[:_LONGEST_TEXT]
        return Complaint(severity=_severity(match["kind"]), text=text, program="nvcc")
    if match := _PROGRAM.match(line):
        text = match["text"].strip()[:_LONGEST_TEXT]
        severity: Literal["error", "warning"] = "warning" if "warning:" in text else "error"
        return Complaint(severity=severity, text=text, program=text.split(":", 1)[0])
    return None
