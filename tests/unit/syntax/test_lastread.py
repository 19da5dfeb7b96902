"""What is kept from one reading to the next, by itself."""

from __future__ import annotations

from cudalint.syntax.lastread import LastRead


def test_the_same_line_is_the_same_object_in_every_text() -> None:
    last = LastRead()
    before, after = b"int a;\nint b;\n\nend", b"int new;\nint a;\nint b;\n\nend"
    first = {line: line for line in _lines(last, before)}
    again = _lines(last, after)
    assert b"".join(first) == before
    assert b"".join(again) == after
    assert all(line is first[line] for line in again[1:])


def test_a_line_is_given_from_wherever_it_is_asked_for() -> None:
    read = LastRead().reader(b"int a;\nb")
    assert [read(at, None) for at in (4, 6, 7, 8)] == [b"a;\n", b"\n", b"b", b""]


def test_what_is_made_of_the_same_is_made_once() -> None:
    last = LastRead()
    made = [last.made("sum", (1, 2), lambda: [3]), last.made("sum", (1, 2), lambda: [4])]
    assert made == [[3], [3]]
    assert made[0] is made[1]
    assert last.made("sum", (1, 4), lambda: [5]) == [5]


def test_what_is_made_of_the_disk_is_made_again_afresh() -> None:
    last = LastRead()
    assert last.afresh
    there = iter(("first", "second"))
    for expected in ("first", "second"):
        assert last.made("files", (), lambda: next(there), of_disk=True) == expected


def _lines(last: LastRead, text: bytes) -> list[bytes]:
    """The text as the reader gives it, piece by piece."""
    read = last.reader(text)
    found: list[bytes] = []
    while piece := read(sum(map(len, found)), None):
        found.append(piece)
    return found
