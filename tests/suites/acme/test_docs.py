"""What docs/acme.md and docs/sparql.md say of keys, patches and the corpus is true."""

from __future__ import annotations

from pathlib import Path

from pytest_sqlbench.suites.acme.patches import PATCHES
from pytest_sqlbench.suites.acme.reader import KEYS
from tests.engines.sparql_attacks import ATTACKS

DOCS = Path(__file__).parents[3] / "docs"


def test_every_key_and_patch_is_documented() -> None:
    text = (DOCS / "acme.md").read_text(encoding="utf-8")
    for name in (*KEYS, *(patch.name for patch in PATCHES)):
        assert f"`{name}`" in text or f"{name}:" in text, name


def test_the_corpus_has_the_size_that_is_told() -> None:
    text = (DOCS / "sparql.md").read_text(encoding="utf-8")
    services = sum("service" in attack.id or "silent" in attack.id for attack in ATTACKS)
    assert f"a corpus of {len(ATTACKS)}: {services} queries around SERVICE" in text
