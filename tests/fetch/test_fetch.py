"""Fetching a benchmark from a server that works, from one that does not, and from a file."""

from __future__ import annotations

import bz2
import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from pytest_sqlbench.commands import fetch
from pytest_sqlbench.fetch.download import CHUNK
from pytest_sqlbench.fetch.sources import ACME, SEDE, SOURCES, WIKISQL
from pytest_sqlbench.fetch.unpack import check_files
from pytest_sqlbench.suites.registry import load_suite
from tests.fetch.server import Misbehaviour, serve
from tests.shared_data import shared
from tests.suites.wikisql_files import TABLES, write_split

Fetch = Callable[..., int]
FILES = ("dev.jsonl", "dev.tables.jsonl", "dev.db")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """The files of a small split, by their names in the archive, among some that are not wanted."""
    (tmp_path / "made").mkdir()
    write_split(tmp_path / "made", database=TABLES)
    wanted = {f"data/{name}": (tmp_path / "made/data" / name).read_bytes() for name in FILES}
    noise = random.Random(0).randbytes(8 * CHUNK)  # so that the archive is several reads long
    return {
        **wanted,
        "data/noise": noise,
        "data/._dev.jsonl": b"junk",
        "data/README": b"x",
        "../dev.jsonl": b"x",
        "data/../dev.db": b"x",
    }


@pytest.fixture
def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:bz2") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Run ``fetch wikisql`` with small counts, into ``out``."""
    small = replace(WIKISQL, counts={"dev.jsonl": 5}, digests={})
    monkeypatch.setitem(fetch.SOURCES, "wikisql", small)  # type: ignore[misc]
    base = ["fetch", "wikisql", "--to", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    return lambda *more: main([*base, "--timeout", "0.2", "--retries", "2", *more])


def cut(archive: bytes) -> int:
    """Return how much of the first half was read whole, in the pieces in which it is read."""
    return len(archive) // 2 // CHUNK * CHUNK


def test_fetched_files_are_a_suite(
    run: Fetch, archive: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Misbehaviour(archive)) as url:
        assert run("--from", url) == 0
    printed = capsys.readouterr()
    assert "3 files in" in printed.out
    assert "BSD-3-Clause" in printed.out
    assert "arXiv 1709.00103" in printed.out
    assert "100 %" in printed.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    manifest = tmp_path / "wikisql.yaml"
    manifest.write_text(printed.out.partition("wikisql.yaml:\n\n")[2])
    assert len(load_suite(manifest).cases) == 5


def test_nothing_is_downloaded_twice(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive)
    with serve(behaviour) as url:
        assert run("--from", url) == 0
        assert run("--from", url) == 0
    assert run() == 0  # the files are complete: no archive is needed
    assert len(behaviour.requests) == 1


def test_a_cut_download_goes_on_where_it_was_cut(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive, ["cut", "cut"])
    with serve(behaviour) as url:
        assert run("--from", url) == 0
    first = cut(archive)
    second = first + (len(archive) - first) // 2 // CHUNK * CHUNK
    assert behaviour.requests == ["", f"bytes={first}-", f"bytes={second}-"]


def test_an_interrupted_run_is_resumed_by_the_next(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive, ["cut", "503", "503", "503"])
    with serve(behaviour) as url:
        assert run("--from", url) == 4
        assert not (tmp_path / "out").exists()
        assert run("--from", url) == 0
    assert behaviour.requests[-1] == f"bytes={cut(archive)}-"


def test_a_file_that_changed_meanwhile_is_fetched_anew(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive[::-1], ["cut", "changed"])
    with serve(behaviour) as url:
        assert run("--from", url) == 0
    assert behaviour.requests == ["", f"bytes={cut(archive)}-"]


def test_a_server_without_versions_is_asked_for_everything_again(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive, ["cut"], has_tag=False)
    with serve(behaviour) as url:
        assert run("--from", url) == 0
    assert behaviour.requests == ["", ""]


def test_a_stalled_answer_is_given_up_and_tried_again(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    behaviour = Misbehaviour(archive, ["stall"])
    with serve(behaviour) as url:
        assert run("--from", url) == 0
    assert behaviour.requests == ["", f"bytes={cut(archive)}-"]


@pytest.mark.parametrize(
    "plan, message",
    [
        (["404"], "answers 404. Behind a mirror or offline, give the archive itself: --from URL|FILE."),
        (["503"] * 4, "answers 503"),
    ],
)
def test_a_refusal_is_one_line(run: Fetch, capsys: pytest.CaptureFixture[str], plan: list[str], message: str) -> None:
    with serve(Misbehaviour(b"", plan)) as url:
        assert run("--from", url) == 4
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"pytest-sqlbench: {url}: ")
    assert message in error


def test_no_network_is_one_line(run: Fetch, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(Misbehaviour(b"")) as url:
        pass
    assert run("--from", url) == 4
    assert "--from URL|FILE" in capsys.readouterr().err


def test_a_corrupt_archive_is_refused_and_forgotten(
    run: Fetch, archive: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = archive[:200] + b"????" + archive[204:]
    behaviour = Misbehaviour(broken)
    with serve(behaviour) as url:
        assert run("--from", url) == 4
        assert "is cut or corrupt" in capsys.readouterr().err
        assert not any((tmp_path / "out").iterdir())
        behaviour.content = archive
        assert run("--from", url) == 0


@pytest.mark.parametrize(
    "content",
    [b"<html>please log in</html>", bz2.compress(b"no tar"), b""],
    ids=["a_web_page", "no_tar", "nothing"],
)
def test_what_is_no_archive_is_refused(run: Fetch, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "given.tar.bz2"
    path.write_bytes(content)
    assert run("--from", str(path)) == 4
    assert path.exists(), "a file of the user's is never deleted"


def test_a_cut_archive_is_refused(run: Fetch, archive: bytes, tmp_path: Path) -> None:
    path = tmp_path / "given.tar.bz2"
    path.write_bytes(archive[: len(archive) // 2])
    assert run("--from", str(path)) == 4


@pytest.mark.parametrize("kind", ["tar", "zip", "folder"])
def test_an_archive_may_be_given(
    run: Fetch, archive: bytes, files: dict[str, bytes], tmp_path: Path, kind: str
) -> None:
    origin = tmp_path / "given"
    if kind == "tar":
        origin.write_bytes(archive)
    elif kind == "zip":
        with zipfile.ZipFile(origin, "w") as packed:
            for name, content in files.items():
                packed.writestr(f"WikiSQL-main/{name}", content)
    else:
        for name in FILES:
            (origin / "data").mkdir(parents=True, exist_ok=True)
            (origin / "data" / name).write_bytes(files[f"data/{name}"])
    assert run("--from", str(origin)) == 0
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == files[f"data/{name}"]


def test_other_data_than_the_published_are_refused(
    archive: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.tar.bz2"
    path.write_bytes(archive)
    assert main(["fetch", "wikisql", "--from", str(path), "--to", str(tmp_path / "out")]) == 4
    assert "holds no train.jsonl, so it is not the published wikisql" in capsys.readouterr().err


def test_a_wrong_count_is_named(
    run: Fetch, archive: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(fetch.SOURCES, "wikisql", replace(WIKISQL, counts={"dev.jsonl": 8421}))  # type: ignore[misc]
    path = tmp_path / "given.tar.bz2"
    path.write_bytes(archive)
    assert run("--from", str(path)) == 4
    assert "dev.jsonl has 5 records, the published file has 8,421" in capsys.readouterr().err


def test_every_source_is_pinned() -> None:
    for source in SOURCES.values():
        assert len(source.commit) == 40
        assert source.commit in source.find_url()
        assert "abc" in source.find_url("abc")
        assert source.licence
        assert source.citation


def test_the_published_files_hold_what_is_demanded(tmp_path: Path) -> None:
    check_files(SEDE, shared("sede"), shared("sede"))
    check_files(ACME, shared("acme"), shared("acme"))
    known = replace(WIKISQL, counts={"dev.jsonl": 8421, "test.jsonl": 15_878})
    check_files(known, shared("wikisql"), shared("wikisql"))


def test_a_published_folder_is_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "acme", "--from", str(shared("acme")), "--to", str(tmp_path / "out")]) == 0
    manifest = tmp_path / "acme.yaml"
    manifest.write_text(capsys.readouterr().out.partition("acme.yaml:\n\n")[2])
    assert len(load_suite(manifest).cases) == 86
