"""Laws of `read_model` that hold for every input."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.finding import Span
from cudalint.syntax.model import FileModel
from cudalint.syntax.read import read_model

PIECES = st.sampled_from(
    [
        "__global__ ", "void ", "k", "(", ")", "{", "}", "[", "]", "<", ">", "<<<", ">>>", ";", ",",
        '"', "'", "//", "/*", "*/", "\\\n", "\n", "\r\n", "#define M(x) ", "##", "#if 0\n",
        "#ifdef A\n", "#else\n", "#endif\n", "__shared__ ", "float ", "x", "M(", 'R"(', ')"', "=",
        "template ", "typename ", 'extern "C" ', "__launch_bounds__(", "é", "\t", "return ", "if ",
        "for(;;)", "namespace ", "struct S ", "a.b->", "1'000", "std::cout << ", "0x1f", "if (x) ",
    ]
)  # fmt: skip
SOURCES = st.lists(PIECES, max_size=60).map(lambda pieces: "".join(pieces).encode())


def spans(value: object) -> Iterator[Span]:
    if isinstance(value, Span):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from spans(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from spans(item)


def names(model: FileModel) -> list[tuple[str, str]]:
    return [(f.name, f.space) for f in model.functions] + [(c.callee, "") for c in model.calls]


@settings(max_examples=300, deadline=None)
@given(SOURCES)
def test_any_text_is_read_and_every_span_lies_inside(data: bytes) -> None:
    model = read_model("a.cu", data)
    for span in spans(model):
        assert 0 <= span.start <= span.end <= len(data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    assert read_model("a.cu", data).size == len(data)


@settings(max_examples=150, deadline=None)
@given(SOURCES)
def test_the_model_survives_the_cache(data: bytes) -> None:
    model = read_model("a.cu", data)
    encoded = msgspec.msgpack.encode(model)
    assert msgspec.msgpack.decode(encoded, type=FileModel) == model


@settings(max_examples=100, deadline=None)
@given(SOURCES)
def test_function_indexes_point_at_their_function(data: bytes) -> None:
    model = read_model("a.cu", data)
    for index, function in enumerate(model.functions):
        assert function.index == index
        assert function.parent < len(model.functions)
    for call in model.calls:
        assert -1 <= call.function < len(model.functions)
        home = model.functions[call.function] if call.function >= 0 else None
        if home is not None and call.use is None and home.use is None and home.body is not None:
            assert home.body.start <= call.span.start < home.body.end
