"""``pytest-sqlbench fetch wikisql|sede|acme``: a published benchmark, downloaded at a pinned commit and checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.fetch.download import Patience, download_archive, find_cache
from pytest_sqlbench.fetch.sources import SOURCES, Source
from pytest_sqlbench.fetch.unpack import check_files, unpack

HELP = "Download a published benchmark, check it, and print its licence and a manifest for it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("name", choices=sorted(SOURCES), help="The benchmark.")
    parser.add_argument("--to", metavar="DIR", type=Path, help="Folder for its files. Default: its name.")
    parser.add_argument(
        "--from",
        dest="origin",
        metavar="URL|FILE",
        help="Take the archive from a mirror, a file, or a folder that was unpacked before.",
    )
    parser.add_argument("--commit", metavar="SHA", default="", help="Another commit than the pinned one.")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="Folder for archives. Default: the user's cache.")
    parser.add_argument("--timeout", metavar="S", type=float, default=30.0, help="Seconds without a byte. Default: 30.")
    parser.add_argument("--retries", metavar="N", type=int, default=5, help="Attempts that bring nothing. Default: 5.")


def run(args: argparse.Namespace) -> int:
    """Fetch, check, place, and say what it is."""
    if args.timeout <= 0 or args.retries < 0:
        raise UsageError("--timeout wants seconds above 0, --retries a number from 0")
    source = SOURCES[args.name]
    target = args.to or Path(source.name)
    if not args.origin and _is_complete(source, target):
        print(f"{target} is complete and as published")
    else:
        archive, is_ours = _find_archive(source, args)
        try:
            files = unpack(source, archive, target)
        except CaseError:
            if is_ours:  # so that the next run downloads it again
                archive.unlink(missing_ok=True)
            raise
        print(f"{len(files)} files in {target}, checked against the published counts and digests")
    print(f"licence   {source.licence}")
    print(f"citation  {source.citation}")
    print(f"\nA suite over them, {source.name}.yaml:\n\n{source.manifest.format(to=target.as_posix())}", end="")
    return 0


def _is_complete(source: Source, target: Path) -> bool:
    try:
        check_files(source, target, target)
    except CaseError:
        return False
    return True


def _find_archive(source: Source, args: argparse.Namespace) -> tuple[Path, bool]:
    """Return the archive, and whether it is ours to delete."""
    origin = args.origin or source.find_url(args.commit)
    if "://" not in origin:
        path = Path(origin)
        if not path.exists():
            raise UsageError(f"--from: no such file or folder: {origin!r}")
        return path, False
    patience = Patience(args.timeout, args.retries, wait_s=min(1.0, args.timeout))
    print(f"{source.name} from {origin}", file=sys.stderr)
    return download_archive(origin, source.archive, args.cache or find_cache(), patience, _Progress()), True


class _Progress:
    """Writes to stderr how far a download is, at most once for every per cent or megabyte."""

    def __init__(self) -> None:
        self._said = -1

    def __call__(self, have: int, total: int | None) -> None:
        step = have * 100 // total if total else have // 2**20
        if step == self._said:
            return
        self._said = step
        said = f"{have / 2**20:.1f} of {total / 2**20:.1f} MB, {step} %" if total else f"{step} MB"
        is_last = total is not None and have >= total
        if sys.stderr.isatty():
            print(f"\r{said}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        elif is_last or step % 25 == 0:
            print(said, file=sys.stderr)
