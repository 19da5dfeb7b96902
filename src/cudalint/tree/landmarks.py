"""What marks a kernel tree among other folders: the names of its files, and `<hw>/` folders.

Kept apart from what reads the files, so that a run outside of every tree loads
none of that.
"""

from __future__ import annotations

import posixpath

from cudalint.tree.folders import Folders

COMMON = "common"
HARDWARE = "HARDWARE.toml"
MODEL = "MODEL.toml"
MANIFEST = "KERNEL.toml"


def is_hardware(path: str, folders: Folders) -> bool:
    """Whether the folder at `path` is a `<hw>/`.

    It has a HARDWARE.toml; or a `common/` folder with a `.cu` file, or a
    KERNEL.toml there or in a leaf. A `common/` with headers alone is found in
    any C++ project, and makes no kernel tree.
    """
    listing = folders.list(path)
    if HARDWARE in listing.files:
        return True
    if COMMON not in listing.folders:
        return False
    common = folders.list(posixpath.join(path, COMMON))
    if MANIFEST in common.files or any(name.endswith(".cu") for name in common.files):
        return True
    return any(
        MANIFEST in folders.list(posixpath.join(path, model, quant)).files
        for model in listing.folders
        for quant in folders.list(posixpath.join(path, model)).folders
    )
