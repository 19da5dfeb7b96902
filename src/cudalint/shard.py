"""One part of a run that is split over several machines: which files it owns.

Every shard reads all that the whole run reads, so rules across files see the
same project; only the findings and the compiles of the files that it owns are
its. Joining the logs of all shards is `cudalint.sarif.merge`.
"""

from __future__ import annotations

import re

import msgspec


class Shard(msgspec.Struct, frozen=True):
    """The `index`-th of `count` shards, from 1."""

    index: int
    count: int

    def owns(self, data: bytes) -> bool:
        """Whether a file of this content is this shard's: each content is exactly one's."""
        from hashlib import blake2b

        number = int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
        return number % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def parse_shard(text: str) -> Shard:
    """The shard that "2/8" names. Raises ValueError, with what is wrong, for anything else."""
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if match is None:
        raise ValueError(f"'{text}' is no shard such as 2/8")
    shard = Shard(int(match[1]), int(match[2]))
    if not 1 <= shard.index <= shard.count:
        raise ValueError(f"'{text}': shards are counted from 1/{shard.count or 1}")
    return shard
