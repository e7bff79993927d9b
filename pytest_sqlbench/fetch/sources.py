"""The benchmarks that can be fetched: where their archive is, which files of it are wanted, and what must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """One published benchmark."""

    name: str
    url: str
    """Of the archive; ``{commit}`` stands for the pinned commit."""
    commit: str
    archive: str
    """What the archive is called on disk."""
    members: Mapping[str, str]
    """Regular expression for a path inside the archive, without its top folder, to the path below the target."""
    counts: Mapping[str, int]
    """File to the number of records that it must have: lines, or matches of `record`."""
    record: str = ""
    """Regular expression of one record; empty: a line that is not blank."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """File to its sha256, where it is known."""
    licence: str = ""
    citation: str = ""
    manifest: str = ""
    """A suite over the fetched files; ``{to}`` stands for their folder."""

    def find_url(self, commit: str = "") -> str:
        """Return the address of the archive at the pinned commit, or at another."""
        return self.url.format(commit=commit or self.commit)


WIKISQL = Source(
    name="wikisql",
    url="https://github.com/salesforce/WikiSQL/raw/{commit}/data.tar.bz2",
    commit="2f890b4b26ec20ff2020f6261b9093fb099a72a9",
    archive="data.tar.bz2",
    members={r"((?:train|dev|test)(?:\.tables)?\.jsonl|(?:train|dev|test)\.db)": r"\1"},
    counts={"train.jsonl": 56_355, "dev.jsonl": 8_421, "test.jsonl": 15_878},
    digests={
        "dev.jsonl": "61a857df71dc3c72185d57b3ea9b6df906e8a55fa78daa590edb87fc42871b7c",
        "test.jsonl": "c63d294367a0931ba4cfdd1c5baaa2d73d4cc6d9ca57372e492a2b86d7f2d7d7",
    },
    licence="BSD-3-Clause (salesforce/WikiSQL); the tables are from Wikipedia, CC BY-SA",
    citation="Zhong, Xiong and Socher 2017, Seq2SQL, arXiv 1709.00103",
    manifest="sqlbench: 1\nformat: wikisql\ndata: {to}\nsplit: dev\n",
)

SEDE = Source(
    name="sede",
    url="https://codeload.github.com/hirupert/sede/tar.gz/{commit}",
    commit="2bf261248feb330889a9e84f74e33ff7df0d6a86",
    archive="sede.tar.gz",
    members={
        r"data/sede/((?:train|val|test|val_original|test_original)\.jsonl)": r"\1",
        r"stackexchange_schema/(tables_so\.json)": r"\1",
    },
    counts={"val.jsonl": 857, "test.jsonl": 857},
    digests={
        "val.jsonl": "4495a0f12266c9c79682217a5a240f38c79ba7f52a4662721b27d9f547b4b090",
        "test.jsonl": "e7c0737408f8b22259b70805fcb13c6253b41178469156bbe458d39173ec9c49",
        "tables_so.json": "8d8f459ef7781fb0256b298c35184e1d197a88d9bc9043dbbd7d2d38a27ec92d",
    },
    licence="Apache-2.0 (hirupert/sede); the queries are from Stack Exchange Data Explorer, CC BY-SA",
    citation="Hazoom, Malik and Bogin 2021, Text-to-SQL in the Wild, arXiv 2106.05006",
    manifest="sqlbench: 1\nformat: sede\ndata: {to}\nsplit: val\ntables: {to}/tables_so.json\n",
)

ACME = Source(
    name="acme",
    url="https://codeload.github.com/datadotworld/cwd-benchmark-data/tar.gz/{commit}",
    commit="3faadd57871771a3c1f0768ff264b6bc821d3832",
    archive="cwd-benchmark-data.tar.gz",
    members={r"ACME_Insurance/((?:DDL|data|investigation|ontology)/[^/]+)": r"ACME_Insurance/\1"},
    counts={"ACME_Insurance/investigation/acme-benchmark.ttl": 44},
    record=r"QandA:Inquiry\b",
    digests={
        "ACME_Insurance/investigation/acme-benchmark.ttl": (
            "a29a10dad7666723ccdd91831e7261cffd0847a567a1bf2dee612d7fa7844a34"
        ),
        "ACME_Insurance/DDL/ACME_small.ddl": "fadce6246c995a8aec742dc3a13221a90a3b332c416495b253194b8e74eb593d",
    },
    licence="Apache-2.0 (datadotworld/cwd-benchmark-data)",
    citation="Sequeda, Allemang and Jacob 2023, arXiv 2311.07509",
    manifest="sqlbench: 1\nformat: acme\ndata: {to}/ACME_Insurance\n",
)

SOURCES: Mapping[str, Source] = {source.name: source for source in (ACME, SEDE, WIKISQL)}
