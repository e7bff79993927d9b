"""Reads YAML and remembers on which line each key and item stands. Knows nothing of suites."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml

from pytest_sqlbench.errors import CaseError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]


class LinedDict(dict[str, Any]):
    """A mapping of a YAML file: ``line`` is its own first line, ``lines`` those of its keys (1-based)."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def line_of(self, key: str) -> int:
        """Return the line of a key, or of the mapping itself where it lacks the key."""
        return self.lines.get(key, self.line)


def read_yaml(path: Path) -> LinedDict:
    """Read a YAML file whose top level is a mapping.

    Dates come as ISO text, since databases are filled from them; a key that stands twice is an error.

    Raises:
        CaseError: The file is absent, is not UTF-8, is not YAML, or is not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CaseError(path, 0, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CaseError(path, 0, f"is not UTF-8 text (byte {error.start})") from error
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        content = _convert(node, loader, path) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 0
        raise CaseError(path, line, f"is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise CaseError(path, 0, f"is not YAML: {str(error).splitlines()[0]}") from error
    except RecursionError:
        raise CaseError(path, 0, "is nested too deeply") from None
    finally:
        loader.dispose()
    if not isinstance(content, LinedDict):
        raise CaseError(path, 1, f"found {_kind(content)}, wanted a mapping of keys at the top")
    return content


def _convert(node: yaml.Node, loader: Any, path: Path) -> Any:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping = LinedDict(line)
        for key_node, value_node in node.value:
            key = str(loader.construct_object(key_node, deep=True))
            key_line = key_node.start_mark.line + 1
            if key in mapping:
                raise CaseError(path, key_line, f"key {key!r} stands twice, first on line {mapping.lines[key]}")
            mapping[key] = _convert(value_node, loader, path)
            mapping.lines[key] = key_line
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, loader, path) for item in node.value]
    value = loader.construct_object(node, deep=True)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    kinds = {"list": "a list", "str": "a text", "int": "a number", "float": "a number"}
    return kinds.get(type(value).__name__, "a value")
