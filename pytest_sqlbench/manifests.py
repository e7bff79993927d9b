"""Finds the suite manifests that pytest's arguments name, as pytest's own collection would."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.suites.marks import is_manifest

SUFFIXES = (".yaml", ".yml")


def find_manifests(config: pytest.Config) -> list[Path]:
    """Return the manifests in order of the arguments, each once.

    Raises:
        UsageError: A YAML file is named that is no manifest.
    """
    found: dict[Path, None] = {}
    skipped = [str(pattern) for pattern in config.getini("norecursedirs")]
    for argument in config.args:
        path = Path(config.invocation_params.dir, argument.partition("::")[0])
        if path.is_dir():
            found.update(dict.fromkeys(_walk(path, skipped)))
        elif path.suffix in SUFFIXES and path.is_file():
            if not is_manifest(path):
                raise UsageError(f"{path}:1: is no suite manifest: a manifest has the line 'sqlbench: 1' at its top")
            found[path.absolute()] = None
    return [path for path in found if not _is_ignored(config, path)]


def _is_ignored(config: pytest.Config, path: Path) -> bool:
    """True if an option or a conftest.py keeps pytest from a file, or from a folder above it."""
    places = [place for place in (path, *path.parents) if place.is_relative_to(config.rootpath)]
    ignore = config.hook.pytest_ignore_collect
    return any(ignore(collection_path=place, config=config) for place in places if place != config.rootpath)


def _walk(top: Path, skipped: list[str]) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not any(fnmatch(name, pattern) for pattern in skipped))
        for name in sorted(files):
            path = Path(folder, name)
            if path.suffix in SUFFIXES and is_manifest(path):
                yield path.absolute()
