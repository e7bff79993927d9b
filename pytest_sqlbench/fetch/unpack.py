"""Takes the wanted files out of an archive or folder, checks them, and only then puts them in place."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.fetch.sources import Source

MAX_FILE = 2 * 2**30
"""Bytes; a file of an archive that says it is larger is not unpacked."""


def unpack(source: Source, archive: Path, target: Path) -> list[Path]:
    """Unpack, check and place the files of a benchmark; files that are there are replaced.

    Args:
        source: What is wanted, and what must hold.
        archive: A ``.tar.*`` or ``.zip`` file, or a folder that was unpacked before.
        target: The folder they go to; it is made.

    Returns:
        The files, in order of their names.

    Raises:
        CaseError: The archive is cut or corrupt, or holds other data than were published.
        UsageError: The target cannot be written.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target, prefix=".fetch-") as folder:
            staging = Path(folder)
            names = _extract(source, archive, staging)
            check_files(source, staging, archive)
            for name in names:
                place = target / name
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(staging / name, place)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror or error}") from error
    return [target / name for name in names]


def _extract(source: Source, archive: Path, staging: Path) -> list[str]:
    names = set()
    try:
        for path, size, content in _open_members(archive):
            name = _find_name(source, path)
            if name is None:
                continue
            if size > MAX_FILE:
                raise CaseError(archive, 0, f"{path} has {size:,} bytes, more than can be")
            place = staging / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                shutil.copyfileobj(content, file, 2**20)
            names.add(name)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise CaseError(archive, 0, f"is cut or corrupt: {error}") from error
    except OSError as error:
        if error.errno is not None:  # the disk's; a broken bz2 stream has none
            raise
        raise CaseError(archive, 0, f"is cut or corrupt: {error}") from error
    return sorted(names)


def _find_name(source: Source, path: str) -> str | None:
    """Return where a file of the archive goes; the names come from our table, so none leads out of the target."""
    parts = path.replace("\\", "/").split("/")
    for start in range(len(parts)):
        inner = "/".join(parts[start:])
        for pattern, name in source.members.items():
            found = re.fullmatch(pattern, inner)
            if found and ".." not in parts:
                return found.expand(name)
    return None


def _open_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    if archive.is_dir():
        for path in sorted(archive.rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    yield path.relative_to(archive).as_posix(), path.stat().st_size, file
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                with packed.open(entry) as content:
                    yield entry.filename, entry.file_size, content
    else:
        with tarfile.open(archive) as tar:
            for member in tar:
                taken = tar.extractfile(member) if member.isfile() else None
                if taken is not None:
                    with closing(taken):
                        yield member.name, member.size, taken


def check_files(source: Source, folder: Path, where: Path) -> None:
    """Check counts and digests of the files below a folder.

    Raises:
        CaseError: A file is missing, or is not what was published; ``where`` names the culprit.
    """
    for name in dict.fromkeys([*source.counts, *source.digests]):
        path = folder / name
        if not path.is_file():
            raise CaseError(where, 0, f"holds no {name}, so it is not the published {source.name}")
        content = path.read_bytes()
        wanted = source.counts.get(name)
        if wanted is not None:
            n = _count(content, source.record)
            if n != wanted:
                raise CaseError(where, 0, f"{name} has {n:,} records, the published file has {wanted:,}")
        digest = source.digests.get(name)
        if digest is not None and hashlib.sha256(content).hexdigest() != digest:
            found = hashlib.sha256(content).hexdigest()
            raise CaseError(where, 0, f"{name} has the sha256 {found[:12]}…, the published file {digest[:12]}…")


def _count(content: bytes, record: str) -> int:
    if record:
        return len(re.findall(record.encode(), content))
    return sum(1 for line in content.split(b"\n") if line.strip())
