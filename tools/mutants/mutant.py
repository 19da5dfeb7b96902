"""What a mutant is: one small change to one file, and the code that comes of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """`old`, at `start` in the file's text, replaced by `new`; `digest` is that of the text.

    `path` is relative to the repository, `line` counts from 1, offsets are characters.
    """

    path: str
    digest: str
    operator: str
    start: int
    line: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """Names the mutant in the results, for as long as its file stays as it is."""
        said = (self.path, self.digest, self.operator, str(self.start), self.new)
        return sha256("\0".join(said).encode()).hexdigest()[:20]

    def apply(self, text: str) -> str:
        """The file's text with the change made."""
        assert digest_of(text) == self.digest, f"{self.path} has changed"
        end = self.start + len(self.old)
        assert text[self.start : end] == self.old
        return text[: self.start] + self.new + text[end:]

    def record(self) -> dict[str, Any]:
        """Itself as plain data."""
        return asdict(self)


def digest_of(text: str) -> str:
    """A short name of a file's content."""
    return sha256(text.encode()).hexdigest()[:16]


def read(root: Path, path: str) -> str:
    """The text of a file of the repository."""
    return (root / path).read_text("utf-8")
