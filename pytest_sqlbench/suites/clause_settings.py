"""Keys of a manifest that a metric over clauses reads, in suites of any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_sqlbench.suites.manifest import Manifest

CLAUSE_KEYS = ("parser", "values", "on_clause")
CLAUSE_METRICS = ("pcm_f1", "pcm_em", "clause_f1")
PARSERS = ("official", "sqlglot")


def read_clause_metric(manifest: Manifest, default: str, dialect: str) -> tuple[str, Mapping[str, Any]]:
    """Return the metric's full name, and the settings that its judge reads from `Suite.settings`.

    ``parser: official`` is SEDE's own grammar and the default for T-SQL; ``parser: sqlglot`` reads any dialect, and the
    metric is then called ``pcm_f1[sqlglot]`` wherever it shows. ``values: false`` and ``on_clause: false`` leave values
    and ON conditions out. For a metric over rows the name is returned alone.

    Args:
        manifest: Of any format.
        default: The metric where the manifest names none.
        dialect: Of the suite's queries.

    Raises:
        CaseError: A value that is not allowed, a key that the metric does not read, a dialect without clauses.
    """
    metric = manifest.metric or default
    if metric not in CLAUSE_METRICS:
        for key in CLAUSE_KEYS:
            if key in manifest.settings:
                raise manifest.error(key, f"{key} is for {', '.join(CLAUSE_METRICS)}, and the metric is {metric}")
        return metric, {}
    if dialect == "sparql":
        raise manifest.error("metric", f"{metric} compares clauses of SQL, and the dialect is sparql")
    parser = manifest.choice("parser", PARSERS, "official" if dialect == "tsql" else "sqlglot")
    settings = {
        "parser": parser,
        "values": manifest.setting("values", bool, True),
        "on_clause": manifest.setting("on_clause", bool, True),
    }
    return (metric if parser == "official" else f"{metric}[sqlglot]"), settings
