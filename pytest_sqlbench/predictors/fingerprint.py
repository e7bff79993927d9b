"""What decides an answer, so that the store serves it exactly where the same call would be made again."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_sqlbench.case import Case


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What decides an answer beside the model's name and the sample."""

    parameters: str = ""
    """JSON; no secret."""
    prompt_hash: str = ""


def hash_text(*parts: str) -> str:
    """Return the sha256 of texts, each kept apart from the next, as hex."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part.encode("utf-8", "replace"))
    return digest.hexdigest()


def hash_case(case: Case) -> str:
    """Hash what a pipeline of the user's may read of a case."""
    return hash_text(case.suite, case.id, case.question, case.evidence, case.dialect, case.database)


def hash_files(paths: Iterable[Path]) -> str:
    """Hash the content of files, in order of their names; one that cannot be read counts by its name."""
    parts: list[str] = []
    for path in sorted(paths):
        try:
            parts.append(hashlib.sha256(path.read_bytes()).hexdigest())
        except OSError:
            parts.append(str(path))
    return hash_text(*parts)


def hash_code(module_name: str) -> str:
    """Hash the source that a module lives in: its file, or every Python file of its top package.

    Returns:
        Hex, or an empty text where the source cannot be found; then nobody knows what decided an answer.
    """
    top = sys.modules.get(module_name.partition(".")[0])
    file = getattr(top, "__file__", None)
    if file is None:
        return ""
    path = Path(file)
    return hash_files(path.parent.rglob("*.py") if path.name == "__init__.py" else [path])
