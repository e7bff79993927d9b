"""Finds the reader of a suite's format and loads the suite."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.suites.instances import read_instances
from pytest_sqlbench.suites.manifest import Manifest, read_manifest

FORMATS: dict[str, str] = {
    "": "pytest_sqlbench.suites.own",
    "acme": "pytest_sqlbench.suites.acme.reader",
    "bird": "pytest_sqlbench.suites.bird",
    "defog": "pytest_sqlbench.suites.defog",
    "sede": "pytest_sqlbench.suites.sede",
    "spider": "pytest_sqlbench.suites.spider",
    "table": "pytest_sqlbench.suites.table",
    "wikisql": "pytest_sqlbench.suites.wikisql",
}
"""``format:`` of a manifest to the module with ``read_suite(manifest) -> Suite``; empty: cases of one's own."""


def load_suite(path: Path | str) -> Suite:
    """Load a suite from its manifest.

    Raises:
        CaseError: With file and line, for whatever is not as it must be.
    """
    manifest = read_manifest(Path(path))
    if manifest.format not in FORMATS:
        known = ", ".join(sorted(name for name in FORMATS if name))
        raise manifest.error("format", f"unknown format {manifest.format!r}. Known: {known}.")
    suite = cast(Suite, import_module(FORMATS[manifest.format]).read_suite(manifest))
    _check_ids(suite)
    if "instances" in manifest.top:
        suite = replace(suite, settings={**suite.settings, "instances": read_instances(manifest, suite.databases)})
    return _with_model(suite, manifest) if "model" in manifest.top else suite


def _with_model(suite: Suite, manifest: Manifest) -> Suite:
    """Add what the manifest says of how its model is asked: ``settings["model"]``."""
    from pytest_sqlbench.predictors.options import read_model_settings

    try:
        said = read_model_settings(manifest.top["model"])
    except UsageError as error:
        raise manifest.error("model", str(error)) from error
    return replace(suite, settings={**suite.settings, "model": said})


def _check_ids(suite: Suite) -> None:
    first: dict[str, int] = {}
    for case in suite.cases:
        if case.id in first:
            line = first[case.id]
            where = f", first on line {line}" if line else ""
            source = case.facts.get("source", suite.path)
            raise CaseError(source, case.line, f"case id {case.id!r} stands twice{where}")
        first[case.id] = case.line
