"""``instances:`` of a manifest: more databases of the user's own, on which what is right has to be right too."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_sqlbench.suites.manifest import Manifest

INSTANCES = "instances"
"""The key in a manifest, and in the settings of the suite."""


def read_instances(manifest: Manifest, databases: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each database the files that have its schema and other rows; empty where the manifest has none.

    ``instances: [a.sqlite, b.sqlite]`` serves a suite with one database, ``instances: {shop: [a.sqlite]}`` any.

    Raises:
        CaseError: The key has another shape, or names a database or a file that is not there.
    """
    value = manifest.top.get(INSTANCES)
    if value is None:
        return {}
    known = sorted(databases)
    if isinstance(value, list):
        if len(known) != 1:
            raise manifest.error(INSTANCES, f"instances is a list, and the suite has {len(known)} databases: name them")
        value = {known[0]: value}
    if not isinstance(value, dict):
        raise manifest.error(INSTANCES, f"instances is {value!r}, wanted a list of files, or lists by database")
    found: dict[str, tuple[str, ...]] = {}
    for name, files in value.items():
        if name not in known:
            raise manifest.error(INSTANCES, f"instances of {name!r}. Known: {', '.join(known)}.")
        listed = files if isinstance(files, list) else [files]
        found[name] = tuple(str(manifest.resolve(INSTANCES, file)) for file in listed)
    return found
