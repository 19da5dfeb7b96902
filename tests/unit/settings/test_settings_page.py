"""docs/settings.md has every key, with its default where that is short."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cudalint.settings.model import Settings

PAGE = (Path(__file__).parents[3] / "docs" / "settings.md").read_text()


@pytest.mark.parametrize("field", msgspec.structs.fields(Settings), ids=lambda f: f.encode_name)
def test_every_key_is_there(field: msgspec.structs.FieldInfo) -> None:
    name = field.encode_name
    if isinstance(field.default, bool | str | int | float):
        default = msgspec.json.encode(field.default).decode().removesuffix(".0")
        assert f"| `{name}` | `{default}` |" in PAGE
    else:
        assert f"| `{name}` |" in PAGE or f"| `[{name}" in PAGE
