"""Tells a suite manifest from any other YAML file. Imports nothing: it looks at every YAML file that pytest sees."""

from __future__ import annotations

import re
from pathlib import Path

_MARK = re.compile(rb"^sqlbench[ \t]*:", re.MULTILINE)


def is_manifest(path: Path) -> bool:
    """Say whether a YAML file has the top-level key ``sqlbench`` in its first 64 kB; unreadable: False."""
    try:
        with path.open("rb") as file:
            return _MARK.search(file.read(65_536)) is not None
    except OSError:
        return False
