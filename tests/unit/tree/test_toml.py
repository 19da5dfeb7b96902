"""TOML with places: every value where it stands, every syntax fault where it is."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.finding import Span
from cudalint.tree.toml import Item, SyntaxFault, kind_of, read_toml


def at(document: Item, *path: str | int) -> Item:
    item = document
    for step in path:
        if isinstance(step, int):
            assert item.elements is not None
            item = item.elements[step]
        else:
            assert item.table is not None
            item = item.table[step]
    return item


def text_of(data: bytes, item: Item) -> tuple[str, str]:
    spans = item.key_span, item.span
    key, value = (data[span.start : span.end].decode() for span in spans)
    return key, value


@pytest.mark.parametrize(
    ("document", "path", "key", "value"),
    [
        ('a = "x"', ("a",), "a", '"x"'),
        ("[t]\n'k.c' = 1", ("t", "k.c"), "'k.c'", "1"),
        ('[t]\n"a\\u0062" = 1', ("t", "ab"), '"a\\u0062"', "1"),
        ("x.y.z = true", ("x", "y", "z"), "z", "true"),
        ("[a.b]\nc = [1, # one\n 2]", ("a", "b", "c", 1), "2", "2"),
        ("t = { a = { b = 1.5 } }", ("t", "a", "b"), "b", "1.5"),
        ("[[r]]\na = 1\n[[r]]\na = 2\n[r.s]\nb = 3", ("r", 1, "s", "b"), "b", "3"),
        ("[[r]]\na = 1\n[[r]]\na = 2", ("r", 0, "a"), "a", "1"),
        ('é = """\nx\n"""', (), "", ""),
        ("a = 1\r\nb = '''x\r\ny'''\r\n", ("b",), "b", "'''x\r\ny'''"),
        ("\ufeffa = 1979-05-27", ("a",), "a", "1979-05-27"),
    ],
)
def test_places(document: str, path: tuple[str | int, ...], key: str, value: str) -> None:
    data = document.encode()
    read = read_toml("KERNEL.toml", data)
    if document.startswith("é"):  # a bare key is ASCII
        assert isinstance(read, SyntaxFault)
        assert (read.span.start, read.span.end) == (0, 2)
        return
    assert isinstance(read, Item)
    assert text_of(data, at(read, *path)) == (key, value)


def test_a_table_s_span_starts_at_its_header() -> None:
    data = b"[a]\nb = 1\n\n[c]\n"
    read = read_toml("KERNEL.toml", data)
    assert isinstance(read, Item)
    assert data[at(read, "a").span.start :].startswith(b"[a]\nb = 1")
    assert text_of(data, at(read, "c"))[0] == "c"


@pytest.mark.parametrize(
    ("document", "marked", "problem"),
    [
        (b"a = \nb = 1", (4, 4), "Invalid value"),
        (b"[t\na = 1", (2, 2), "Expected ']' at the end of a table declaration"),
        (b'a = 1\nb = "x', None, "Unterminated string"),
        (b"a = 1\na = 2", (6, 7), "Cannot overwrite a value"),
        (b"[t]\n[u]\n[t]\n", (9, 10), "Cannot declare ('t',) twice"),
        (b"t = {a = 1, a = 2}", None, "Duplicate inline table key 'a'"),
        (b"# \xff", (2, 3), "it is not UTF-8"),
        (b"\xef\xbb\xbf\xc3\xa9\nx", (3, 5), "Invalid statement"),
    ],
)
def test_syntax_faults(document: bytes, marked: tuple[int, int] | None, problem: str) -> None:
    read = read_toml("KERNEL.toml", document)
    assert isinstance(read, SyntaxFault)
    assert read.problem == problem
    if marked is not None:
        start, end = marked
        assert read.span.start == start
        assert read.span.end in (end, end + 1)  # a line end takes no more than its own byte
    assert 0 <= read.span.start <= read.span.end <= len(document)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", "a string"),
        (True, "a boolean"),
        (1, "an integer"),
        (1.5, "a float"),
        ([], "an array"),
        ({}, "a table"),
        (object(), "a date or time"),
    ],
)
def test_kinds(value: object, kind: str) -> None:
    assert kind_of(value) == kind


KEYS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=8)
SCALARS = st.integers(-1000, 1000) | st.booleans() | st.text(string.printable, max_size=8)
VALUES = SCALARS | st.lists(SCALARS, max_size=3)


def quoted(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, value))}]"
    return '"' + "".join(f"\\u{ord(char):04x}" for char in str(value)) + '"'


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3))
def test_every_value_is_where_its_span_says(tables: dict[str, dict[str, object]]) -> None:
    lines = [
        line
        for name, rows in tables.items()
        for line in (f"[{name}]  # é", *(f"{key} = {quoted(row)}" for key, row in rows.items()))
    ]
    data = "\n".join(lines).encode()
    read = read_toml("KERNEL.toml", data)
    assert isinstance(read, Item)
    assert read.value == tables
    for name, rows in tables.items():
        for key, row in rows.items():
            assert text_of(data, at(read, name, key)) == (key, quoted(row))


@pytest.mark.parametrize("opening", [b"[", b"{a=", b"x."])
def test_deep_nesting_ends(opening: bytes) -> None:
    read = read_toml("KERNEL.toml", b"a = " + opening * 20_000)
    assert isinstance(read, SyntaxFault)


@given(st.binary(max_size=60))
def test_any_bytes_get_an_answer_inside_the_file(data: bytes) -> None:
    read = read_toml("KERNEL.toml", data)
    assert 0 <= read.span.start <= read.span.end <= len(data)


def test_nesting_too_deep_is_a_fault_of_the_whole_file() -> None:
    found = read_toml("KERNEL.toml", b"a = " + b"[" * 100_000)
    assert found == SyntaxFault(Span("KERNEL.toml", 0, 0), "it is nested too deeply")


def test_a_statement_that_can_not_be_is_marked_at_its_own_key() -> None:
    for data, start in ((b"a = 1\na = 2\n", 6), (b"\xef\xbb\xbfa = 1\na = 2\nb = 3\n", 9)):
        found = read_toml("KERNEL.toml", data)
        assert isinstance(found, SyntaxFault)
        assert found.span == Span("KERNEL.toml", start, start + 1)


@pytest.mark.parametrize(
    "data",
    [
        b"3#\x003@.9= ",
        b"3=3\x06\x00\x00\x00\x003#= =0= \x00\x00\x00w@=5\x000= \x003\x00.#@=0= \x003=3#= = ",
    ],
)
def test_what_the_grammar_takes_for_a_key_and_toml_for_a_comment(data: bytes) -> None:
    """Found by fuzzing."""
    assert isinstance(read_toml("cudalint.toml", data), SyntaxFault)
