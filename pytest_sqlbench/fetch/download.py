"""Downloads one archive with pooch: kept in a cache, resumed where it was cut, and never half in place."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.errors import UsageError

if TYPE_CHECKING:
    import requests

CHUNK = 65_536

Progress = Callable[[int, int | None], None]
"""Takes the bytes that are here, and all bytes where the server says how many."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a slow or broken server is borne with."""

    timeout_s: float = 30.0
    """Of connecting, and of waiting for the next bytes."""
    retries: int = 5
    """Attempts after the first that bring nothing new; one that brings bytes does not count."""
    wait_s: float = 1.0
    """Before the first retry; twice as long before each next one."""


def find_cache() -> Path:
    """Return the folder in which downloaded archives are kept, as pooch chooses it for this system."""
    return Path(_import_pooch().os_cache("pytest-sqlbench"))


def download_archive(url: str, name: str, cache: Path, patience: Patience, progress: Progress) -> Path:
    """Return the archive from the cache, downloaded first if need be.

    Raises:
        UsageError: pooch is not installed, the server refuses, or it cannot be reached.
    """
    pooch = _import_pooch()
    pooch.get_logger().setLevel("WARNING")  # it would print the sha256 of each file, for us to pin
    known_as = f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name}"
    fetcher = _Resuming(cache / f"{known_as}.part", patience, progress)
    try:
        return Path(pooch.retrieve(url, known_hash=None, fname=known_as, path=cache, downloader=fetcher))
    except OSError as error:  # requests' errors are OSErrors too
        raise UsageError(_explain(url, error)) from error


def _import_pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise UsageError("fetch needs pooch: pip install 'pytest-sqlbench[fetch]'") from error
    return pooch


def _explain(url: str, error: OSError) -> str:
    response = getattr(error, "response", None)
    said = f"answers {response.status_code}" if response is not None else " ".join(str(error).split())[:200]
    return f"{url}: {said}. Behind a mirror or offline, give the archive itself: --from URL|FILE."


class _Resuming:
    """A downloader in pooch's sense that goes on where the last attempt, or the last run, was cut."""

    def __init__(self, part: Path, patience: Patience, progress: Progress) -> None:
        self._part = part
        self._tag = part.with_suffix(".tag")
        """Beside the part: what the server called this version of the file."""
        self._patience = patience
        self._progress = progress

    def __call__(self, url: str, output_file: str | Path, pooch: object, check_only: bool = False) -> None:
        """Fetch ``url`` into ``output_file``; raise requests' errors once patience is at an end."""
        import requests

        failures = 0
        while True:
            before = self._size()
            try:
                if self._attempt(url):
                    break
                error: Exception = requests.ConnectionError("the connection was cut")
            except requests.HTTPError as problem:
                status = problem.response.status_code if problem.response is not None else 0
                if status < 500 and status != 429:
                    raise
                error = problem
            except requests.RequestException as problem:
                error = problem
            failures = 0 if self._size() > before else failures + 1
            if failures > self._patience.retries:
                raise error
            time.sleep(self._patience.wait_s * 2 ** min(failures, 5))
        shutil.move(self._part, output_file)
        self._tag.unlink(missing_ok=True)

    def _size(self) -> int:
        return self._part.stat().st_size if self._part.is_file() else 0

    def _attempt(self, url: str) -> bool:
        """Fetch as much as comes; return True if the file is whole."""
        import requests

        have = self._size()
        headers = {"Accept-Encoding": "identity"}
        if have and self._tag.is_file():
            headers |= {"Range": f"bytes={have}-", "If-Range": self._tag.read_text()}
        with requests.get(url, headers=headers, stream=True, timeout=self._patience.timeout_s) as response:
            if response.status_code == 416:  # nothing is left, or the file has changed: begin again
                self._part.unlink()
                return False
            response.raise_for_status()
            is_rest = response.status_code == 206
            start = have if is_rest else 0
            total = _find_total(response, start)
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
            if tag and not tag.startswith("W/"):
                self._tag.write_text(tag)
            with self._part.open("ab" if is_rest else "wb") as file:
                for chunk in response.iter_content(CHUNK):
                    file.write(chunk)
                    self._progress(file.tell(), total)
                return total is None or file.tell() == total


def _find_total(response: requests.Response, start: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    return start + int(length) if length.isdigit() else None
