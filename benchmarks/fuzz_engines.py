"""Mutated statements through the guarded engines: none may crash the plugin, hang, or change a byte.

    python benchmarks/fuzz_engines.py --engine sqlite --count 100000 --seed 1

Half of the statements are grown from a grammar over the schema, half are golds and hostile texts; two thirds are then
mutated by words, one third by characters.
Prints one line of JSON: seed, count, how the statements ended, what was killed, and whether the file is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pytest_sqlbench.engines import sandbox
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

SUITE = Path(__file__).parent.parent / "cases" / "shop.yaml"
SEEDS = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "SELECT replace(hex(zeroblob(100)), '0', name) FROM products",
    "ATTACH DATABASE 'x.db' AS y",
    "CREATE TEMP TABLE products AS SELECT 1",
    "PRAGMA writable_schema = 1",
    "COPY products TO 'x.csv'",
    "SELECT * FROM read_csv('x.csv')",
    "SELECT load_extension('x')",
    "VACUUM INTO 'x.db'",
    "SET threads = 4",
    "BEGIN; DELETE FROM products; COMMIT",
    "SELECT json_extract('[1,2]', '$[' || stock || ']') FROM products",
    "SELECT printf('%.*c', 100000, 'x')",
    "PIVOT orders ON status USING count(*)",
    "SELECT sum(price) OVER (PARTITION BY category_id ORDER BY price ROWS 2 PRECEDING) FROM products",
)
TABLES = {
    "products": ("product_id", "name", "category_id", "price", "cost", "stock"),
    "orders": ("order_id", "customer_id", "ordered_on", "shipped_on", "status", "discount"),
    "order_lines": ("order_id", "line_no", "product_id", "quantity", "unit_price"),
    "customers": ("customer_id", "name", "country", "joined_on", "referred_by"),
}
OPERATORS = ("=", "<", ">", "<=", "<>", "LIKE", "IS", "IS NOT", "+", "-", "*", "/", "%", "||", "AND", "OR", "IN", "&")
FUNCTIONS = (
    "count",
    "sum",
    "max",
    "length",
    "upper",
    "substr",
    "round",
    "coalesce",
    "abs",
    "replace",
    "nullif",
    "date",
)
VALUES = (
    "0",
    "1",
    "-1",
    "NULL",
    "''",
    "'x'",
    "'2024-01-01'",
    "1e308",
    "9223372036854775807",
    "0.1",
    "x'00'",
    "*",
    "''''",
)


class Grammar:
    """Grows statements at random; the depth is bounded, sense is not."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def statement(self) -> str:
        """Return a SELECT, sometimes with a WITH in front or another SELECT behind."""
        text = self._select(0)
        roll = self._chance.random()
        if roll < 0.1:
            return f"WITH w AS ({self._select(1)}) {text}"
        if roll < 0.2:
            return f"{text} {self._chance.choice(('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'))} {self._select(0)}"
        return text

    def _select(self, depth: int) -> str:
        pick = self._chance.choice
        table = pick(tuple(TABLES))
        columns = ", ".join(self._value(table, depth) for _ in range(self._chance.randint(1, 4)))
        parts = [f"SELECT {pick(('', '', 'DISTINCT '))}{columns} FROM {table}"]
        if self._chance.random() < 0.4:
            other = pick(tuple(TABLES))
            parts.append(f"{pick(('JOIN', 'LEFT JOIN', 'CROSS JOIN', ','))} {other} AS o")
            if self._chance.random() < 0.7:
                parts.append(f"ON {self._value(table, depth)} = o.{pick(TABLES[other])}")
        for word in ("WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT"):
            if self._chance.random() < 0.3:
                parts.append(f"{word} {self._value(table, depth)}")
        return " ".join(parts)

    def _value(self, table: str, depth: int) -> str:
        pick, roll = self._chance.choice, self._chance.random()
        if depth > 3 or roll < 0.45:
            return pick(TABLES[table])
        if roll < 0.6:
            return pick(VALUES)
        if roll < 0.75:
            return f"{self._value(table, depth + 1)} {pick(OPERATORS)} {self._value(table, depth + 1)}"
        if roll < 0.9:
            return f"{pick(FUNCTIONS)}({self._value(table, depth + 1)})"
        if roll < 0.95:
            return f"(CASE WHEN {self._value(table, depth + 1)} THEN {self._value(table, depth + 1)} END)"
        return f"({self._select(depth + 1)})"


def mutate_words(text: str, chance: random.Random, others: tuple[str, ...]) -> str:
    """Drop, double, swap and borrow words."""
    words = text.split(" ")
    for _ in range(chance.randint(0, 2)):
        i = chance.randrange(len(words))
        change = chance.randrange(4)
        if change == 0 and len(words) > 1:
            del words[i]
        elif change == 1:
            words.insert(i, words[i])
        elif change == 2:
            j = chance.randrange(len(words))
            words[i], words[j] = words[j], words[i]
        else:
            words[i] = chance.choice(chance.choice(others).split(" "))
    return " ".join(words)


def mutate_characters(text: str, chance: random.Random) -> str:
    """Flip, drop, insert and repeat characters, control characters and half surrogates among them."""
    characters = list(text)
    for _ in range(chance.choice((1, 1, 1, 2, 6))):
        i = chance.randrange(len(characters) + 1)
        change = chance.randrange(4)
        if change == 0 and characters:
            del characters[i - 1]
        elif change == 1:
            characters.insert(i, chr(chance.choice((chance.randrange(128), chance.randrange(0x3000), 0xD800, 0))))
        elif change == 2 and characters:
            characters[i - 1] = chance.choice("'\"();,*%[]{}`-/\\$@:?#\n\0")
        else:
            j = min(len(characters), i + chance.randint(1, 20))
            characters[i:i] = characters[i:j] * chance.randint(1, 30)
    return "".join(characters)


def statements(seed: int, count: int, golds: tuple[str, ...]) -> list[str]:
    """Return the statements of a seed: the same every time."""
    chance = random.Random(seed)
    grammar = Grammar(chance)
    pool = (*golds, *SEEDS)
    made = []
    for i in range(count):
        text = grammar.statement() if chance.random() < 0.5 else chance.choice(pool)
        made.append(mutate_words(text, chance, pool) if i % 3 else mutate_characters(text, chance))
    return made


def _digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def main() -> int:
    """Run the statements and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "duckdb"), default="sqlite")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=0.25, help="seconds for one statement")
    args = parser.parse_args()
    suite = load_suite(SUITE)
    (database,) = suite.databases.values()
    golds = tuple(query for case in suite.cases for query in case.gold)
    ends: Counter[str] = Counter()
    longest_s = 0.0
    with tempfile.TemporaryDirectory() as cache:
        limits = Limits(timeout_s=args.timeout, rows=5_000, result_bytes=2**22, memory_bytes=2**29)
        engine = open_engine(args.engine, database, Settings(limits=limits, cache_dir=Path(cache)))
        folder = Path(cache) / "databases"
        before = _digest(folder)
        start = time.monotonic()
        for text in statements(args.seed, args.count, golds):
            began = time.monotonic()
            result = engine.run_prediction(text)
            longest_s = max(longest_s, time.monotonic() - began)
            assert isinstance(result, (ResultSet, QueryFailure)), text
            ends["ok" if isinstance(result, ResultSet) else result.status.value] += 1
        took_s = time.monotonic() - start
        is_same = _digest(folder) == before
        check = engine.run_prediction("SELECT count(*) FROM products")
        engine.close()
    kills = sum(box.kills for box in sandbox._SANDBOXES.values())
    report = {
        **{"engine": args.engine, "seed": args.seed, "count": args.count, "ends": dict(ends.most_common())},
        **{"processes_replaced": kills, "longest_s": round(longest_s, 2), "took_s": round(took_s)},
        **{"file_unchanged": is_same, "answers_afterwards": isinstance(check, ResultSet)},
    }
    print(json.dumps(report))
    return 0 if is_same and isinstance(check, ResultSet) else 1


if __name__ == "__main__":
    sys.exit(main())
