"""The keys that every suite manifest has, checked with file and line. What a format adds is checked by its reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import NOTHING, Case, Database, Suite
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.policy import Policy, parse_policy
from pytest_sqlbench.suites.yaml_lines import LinedDict, read_yaml

FORMAT_VERSION = 1

METRICS = ("execution_accuracy", "pcm_f1", "pcm_em", "clause_f1", "acc_ex", "acc_lf")

COMMON_KEYS = frozenset(
    """sqlbench name dialect engine engines database databases metric threshold policy gate instances tags prompt
    model""".split()
)

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,60}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest with its common keys checked; paths are absolute."""

    path: Path
    name: str
    format: str
    dialect: str
    engines: tuple[str, ...]
    databases: Mapping[str, Database]
    metric: str
    threshold: float | None
    policy: Policy
    fail_under: float | None
    tags: tuple[str, ...]
    prompt: str
    settings: LinedDict
    """The keys that are not common: those of the format, ``cases`` and ``data`` among them."""
    top: LinedDict

    def error(self, key: str, message: str) -> CaseError:
        """Make an error that points at a key's line (at the top where the key is absent)."""
        return CaseError(self.path, self.top.line_of(key), message)

    def resolve(self, key: str, value: object) -> Path:
        """Turn a path as written, relative to the manifest, into an absolute one that exists; raise `CaseError`."""
        if not isinstance(value, str) or not value:
            raise self.error(key, f"{key} is {value!r}, wanted a path")
        path = (self.path.parent / Path(value).expanduser()).absolute()
        if not path.exists():
            raise self.error(key, f"{key}: no such file or folder: {value!r}")
        return path

    def setting(self, key: str, kind: type, default: Any = None) -> Any:
        """Return a format's key, checked for its type; raise `CaseError` where it is of another."""
        value = self.settings.get(key, default)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise self.error(key, f"{key} is {value!r}, wanted {_KINDS.get(kind, kind.__name__)}")
        return value

    def choice(self, key: str, allowed: Iterable[str], default: str) -> str:
        """Return a format's key that is one of a closed list; raise `CaseError` that prints the list."""
        value = self.settings.get(key, default)
        options = list(allowed)
        if value not in options:
            raise self.error(key, f"{key} is {value!r}. Allowed: {', '.join(options)}.")
        return str(value)

    def check_keys(self, known: Iterable[str]) -> None:
        """Raise `CaseError` for the first key that neither every manifest nor this format has."""
        check_keys(self.path, self.settings, known, also=COMMON_KEYS | {"format"})

    def make_suite(
        self,
        cases: Iterable[Case],
        metric: str,
        digest: str,
        *,
        databases: Mapping[str, Database] | None = None,
        policy: Policy | None = None,
        settings: Mapping[str, Any] = NOTHING,
    ) -> Suite:
        """Make the suite of these cases; databases and policy are the manifest's where none are given."""
        return Suite(
            name=self.name,
            path=self.path,
            cases=tuple(cases),
            databases=self.databases if databases is None else databases,
            metric=metric,
            threshold=1.0 if self.threshold is None else self.threshold,
            policy=policy or self.policy,
            fail_under=self.fail_under,
            tags=self.tags,
            prompt=self.prompt,
            settings=settings,
            digest=digest,
        )


_KINDS = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a mapping"}


def check_keys(path: Path, mapping: LinedDict, known: Iterable[str], also: Iterable[str] = ()) -> None:
    """Raise `CaseError` for the first key of a mapping that is not known, with the nearest one that is."""
    allowed = sorted({*known})
    every = sorted({*allowed, *also})
    for key in mapping:
        if key not in allowed:
            near = get_close_matches(key, every, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise CaseError(path, mapping.line_of(key), f"unknown key {key!r}.{hint} Known: {', '.join(every)}.")


def read_manifest(path: Path) -> Manifest:
    """Read a suite manifest.

    Raises:
        CaseError: With file and line, for whatever is not as it must be among the common keys.
    """
    top = read_yaml(path)
    version = top.get("sqlbench")
    if version != FORMAT_VERSION:
        found = f"sqlbench is {version!r}" if "sqlbench" in top else "there is no key 'sqlbench'"
        raise CaseError(path, top.line_of("sqlbench"), f"{found}; a suite manifest says 'sqlbench: {FORMAT_VERSION}'")
    settings = LinedDict(top.line)
    for key, value in top.items():
        if key not in COMMON_KEYS and key != "format":
            settings[key] = value
            settings.lines[key] = top.lines[key]
    manifest = Manifest(
        path=path.absolute(),
        name=_name(path, top),
        format=_text(path, top, "format", ""),
        dialect=_text(path, top, "dialect", ""),
        engines=_engines(path, top),
        databases={},
        metric=_metric(path, top),
        threshold=_fraction(path, top, "threshold"),
        policy=_policy(path, top),
        fail_under=_gate(path, top),
        tags=text_list(path, top, "tags"),
        prompt=_text(path, top, "prompt", ""),
        settings=settings,
        top=top,
    )
    return replace(manifest, databases=_databases(manifest))


def _name(path: Path, top: LinedDict) -> str:
    name = top.get("name", path.stem)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CaseError(path, top.line_of("name"), f"name is {name!r}, wanted 1 to 60 of A-Z a-z 0-9 _ . -")
    return name


def _text(path: Path, mapping: LinedDict, key: str, default: str) -> str:
    value = mapping.get(key, default)
    if not isinstance(value, str):
        raise CaseError(path, mapping.line_of(key), f"{key} is {value!r}, wanted a text")
    return value


def text_list(path: Path, mapping: LinedDict, key: str) -> tuple[str, ...]:
    """Read a key that holds one text or a list of texts; raise `CaseError` for anything else."""
    value = mapping.get(key, [])
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise CaseError(path, mapping.line_of(key), f"{key} holds {item!r}, wanted a text or a list of texts")
    return tuple(items)


def _engines(path: Path, top: LinedDict) -> tuple[str, ...]:
    if "engine" in top and "engines" in top:
        raise CaseError(path, top.line_of("engines"), "engine and engines both stand here; keep one")
    return text_list(path, top, "engines" if "engines" in top else "engine")


def _metric(path: Path, top: LinedDict) -> str:
    metric = top.get("metric", "")
    if metric and metric not in METRICS:
        raise CaseError(path, top.line_of("metric"), f"unknown metric {metric!r}. Known: {', '.join(METRICS)}.")
    return str(metric)


def _fraction(path: Path, mapping: LinedDict, key: str) -> float | None:
    value = mapping.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise CaseError(path, mapping.line_of(key), f"{key} is {value!r}, wanted a number from 0 to 1")
    return float(value)


read_fraction = _fraction


def _policy(path: Path, mapping: LinedDict) -> Policy:
    try:
        return parse_policy(mapping.get("policy", "default"))
    except UsageError as error:
        raise CaseError(path, mapping.line_of("policy"), str(error)) from error


read_policy = _policy


def _gate(path: Path, top: LinedDict) -> float | None:
    if "gate" not in top:
        return None
    gate = top["gate"]
    if not isinstance(gate, LinedDict):
        raise CaseError(path, top.line_of("gate"), f"gate is {gate!r}, wanted a mapping with fail_under")
    check_keys(path, gate, ["fail_under"])
    return parse_percent(path, gate.line_of("fail_under"), gate.get("fail_under"))


def parse_percent(path: Path, line: int, value: object) -> float:
    """Read a per cent value such as ``80`` or ``"80%"`` as 0 to 1; raise `CaseError` for anything else."""
    text = str(value).strip().removesuffix("%")
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 100:
        raise CaseError(path, line, f"fail_under is {value!r}, wanted a per cent value from 0 to 100")
    return number / 100


def _databases(manifest: Manifest) -> dict[str, Database]:
    top = manifest.top
    if "database" in top and "databases" in top:
        raise manifest.error("databases", "database and databases both stand here; keep one")
    if "database" in top:
        return {"main": _database(manifest, "main", top["database"], "database")}
    named = top.get("databases", {})
    if not isinstance(named, dict):
        return {}  # the format reads it: a folder of databases
    return {name: _database(manifest, name, value, "databases") for name, value in named.items()}


def _database(manifest: Manifest, name: str, value: object, key: str) -> Database:
    if isinstance(value, str):
        if "://" in value:
            return Database(name, url=value)
        return Database(name, path=manifest.resolve(key, value))
    if not isinstance(value, LinedDict):
        raise manifest.error(key, f"{key} is {value!r}, wanted a path, a URL or a mapping with schema and rows")
    check_keys(manifest.path, value, ["schema", "rows"])
    schema = value.get("schema")
    if not isinstance(schema, str) or not schema.strip():
        raise CaseError(manifest.path, value.line, "a database made of rows needs a schema (a path or DDL)")
    if "create " not in schema.lower():
        schema = _read_schema(manifest, value, schema)
    files, inline = _rows(manifest, value)
    return Database(name, schema=schema, rows=files, inline_rows=inline)


def _read_schema(manifest: Manifest, value: LinedDict, schema: str) -> str:
    path = manifest.path.parent / schema
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise CaseError(manifest.path, value.line_of("schema"), f"schema {schema!r} cannot be read: {what}") from error


_ROW_FILES = (".csv", ".json", ".jsonl")


def _rows(
    manifest: Manifest, value: LinedDict
) -> tuple[tuple[tuple[str, Path], ...], dict[str, tuple[Mapping[str, Any], ...]]]:
    rows = value.get("rows")
    line = value.line_of("rows")
    if rows is None:
        return (), {}
    if isinstance(rows, str):
        folder = manifest.path.parent / rows
        if not folder.is_dir():
            raise CaseError(manifest.path, line, f"rows: no such folder: {rows!r}")
        return tuple((file.stem, file) for file in sorted(folder.iterdir()) if file.suffix in _ROW_FILES), {}
    if not isinstance(rows, LinedDict):
        raise CaseError(manifest.path, line, f"rows is {rows!r}, wanted a folder or a mapping of tables")
    files: list[tuple[str, Path]] = []
    inline: dict[str, tuple[Mapping[str, Any], ...]] = {}
    for table, source in rows.items():
        if isinstance(source, str):
            path = manifest.path.parent / source
            if not path.is_file() or path.suffix not in _ROW_FILES:
                allowed = ", ".join(_ROW_FILES)
                raise CaseError(manifest.path, rows.line_of(table), f"rows of {table}: no {allowed} file: {source!r}")
            files.append((table, path))
        elif isinstance(source, list) and all(isinstance(row, dict) for row in source):
            inline[table] = tuple(source)
        else:
            raise CaseError(manifest.path, rows.line_of(table), f"rows of {table}: wanted a file or a list of mappings")
    return tuple(files), inline
