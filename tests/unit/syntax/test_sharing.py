"""Sharing changes no model, and leaves one object where many files say the same."""

from __future__ import annotations

import msgspec
import pytest

from cudalint import extraction
from cudalint.extraction import extract
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel
from cudalint.syntax.read import read_model
from cudalint.syntax.sharing import Sharing
from generator import SHIPPED

CODE = b"""\
#define TWICE(x) again(x, x)
typedef float real;
__global__ void __launch_bounds__(1 << 8) scale(float* first, const float* second, int count) {
  __shared__ float rows[1 << 8];  // as many as threads
  for (int index = threadIdx.x; index < count; index += 1 << 8) TWICE(index);
  asm volatile("bar.sync 0;" : : "r"(count));
}
void run(cudaStream_t stream) {
  static const int blocks = 1024;
  if (blocks > 512) scale<<<blocks, 1 << 8, 0, stream>>>(nullptr, nullptr, blocks);
  cudaMemcpyAsync(nullptr, nullptr, blocks, cudaMemcpyDefault, stream);
}
"""


@pytest.fixture(params=["parsed", "decoded"])
def models(request: pytest.FixtureRequest) -> list[FileModel]:
    texts = [file.read_bytes() for file in sorted(SHIPPED.rglob("*.cu"))[:5]]
    made = [read_model(f"{number}.cu", text) for number, text in enumerate([CODE, CODE, *texts])]
    if request.param == "parsed":
        return made
    return [msgspec.msgpack.decode(msgspec.msgpack.encode(one), type=FileModel) for one in made]


def test_models_stay_what_they_are(models: list[FileModel]) -> None:
    before = [msgspec.msgpack.encode(model) for model in models]
    sharing = Sharing()
    assert [sharing.share(model) for model in models] == models
    assert [msgspec.msgpack.encode(model) for model in models] == before


def test_equal_texts_and_offsets_are_one_object(models: list[FileModel]) -> None:
    sharing = Sharing()
    one, other = (sharing.share(model) for model in models[:2])
    kernel, same = one.kernels[0], other.kernels[0]
    assert kernel.name is same.name
    assert kernel.words is same.words
    assert kernel.parameters[1].type is same.parameters[1].type
    assert one.calls[-1].argument_text is other.calls[-1].argument_text
    assert one.calls[-1].arguments_at is other.calls[-1].arguments_at
    assert kernel.body is not None
    assert same.body is not None
    assert kernel.body.end is same.body.end
    assert kernel.parameters[1].span.path is one.path


def test_only_runs_that_take_much_memory_share(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [SourceFile("a.cu", CODE), SourceFile("b.cu", CODE)]
    few = extract(files, None, 1).models
    monkeypatch.setattr(extraction, "SHARED_BYTES", 1)
    many = extract(files, None, 1).models
    assert few == many
    assert few["a.cu"].calls[-1].argument_text is not few["b.cu"].calls[-1].argument_text
    assert many["a.cu"].calls[-1].argument_text is many["b.cu"].calls[-1].argument_text
