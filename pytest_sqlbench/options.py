"""The options that pytest gets from us: one table, from which parser, ini keys and documentation are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Option:
    """One command-line option, and its ini key if it has one."""

    flag: str
    heading: str
    """Under which it stands in the documentation."""
    help: str
    metavar: str = ""
    """Empty for a switch."""
    default: str = ""
    """As a person would write it; empty: none."""
    ini: bool = False
    """Whether an ini key of the same name (``sqlbench_…``) sets it; the command line wins."""
    repeats: bool = False
    """Whether it may be given several times."""
    bare: str | None = None
    """What it means without a value; None: it needs one."""

    @property
    def name(self) -> str:
        """The attribute of ``config.option``, and the ini key."""
        return self.flag.lstrip("-").replace("-", "_")


MODEL, CALLS, JUDGING, SELECTION = "Models", "Calls and their store", "Judging", "Selection"
GATE, RUNS, OUTPUT = "Gate", "Saved runs", "Output"

OPTIONS: tuple[Option, ...] = (
    Option("--sqlbench-model", MODEL, "Model that answers, SCHEME:REST.", "SPEC", ini=True),
    Option("--sqlbench-base-url", MODEL, "Base URL of an OpenAI-compatible server.", "URL", ini=True),
    Option("--sqlbench-key-variable", MODEL, "Environment variable with the key.", "NAME", "OPENAI_API_KEY", ini=True),
    Option("--sqlbench-api", MODEL, "How openai: models are asked: chat, completion.", "HOW", "chat", ini=True),
    Option("--sqlbench-temperature", MODEL, "Sampling temperature.", "X", "0", ini=True),
    Option("--sqlbench-max-tokens", MODEL, "Tokens that a reply may have.", "N", "1024", ini=True),
    Option("--sqlbench-stop", MODEL, "Text at which the model stops.", "TEXT", ini=True, repeats=True),
    Option("--sqlbench-extra-body", MODEL, "Further fields of the request; null removes one.", "JSON", ini=True),
    Option("--sqlbench-prompt", MODEL, "Prompt template that overrides those of the suites.", "PATH", ini=True),
    Option("--sqlbench-prompt-rows", MODEL, "Sample rows of each table in the prompt.", "N", "0", ini=True),
    Option("--sqlbench-prompt-limit", MODEL, "Characters that a prompt may have.", "N", "400000", ini=True),
    Option("--sqlbench-model-timeout", CALLS, "Seconds that one call may take.", "S", "60", ini=True),
    Option("--sqlbench-concurrency", CALLS, "Calls at once.", "N", "32", ini=True),
    Option("--sqlbench-retries", CALLS, "Further calls after a failure that may pass.", "N", "4", ini=True),
    Option("--sqlbench-rpm", CALLS, "Calls in any 60 seconds.", "N", ini=True),
    Option("--sqlbench-tpm", CALLS, "Tokens in any 60 seconds.", "N", ini=True),
    Option("--sqlbench-max-cost", CALLS, "US dollars that the calls of a run may cost.", "USD", ini=True),
    Option("--sqlbench-max-failures", CALLS, "Unanswered cases in a row that end all calls.", "N", "10", ini=True),
    Option("--sqlbench-prices", CALLS, "File of prices that come before the shipped ones.", "PATH", ini=True),
    Option(
        "--sqlbench-store",
        CALLS,
        "Where answers are kept; none: only in memory.",
        "PATH",
        ".sqlbench/predictions.db",
        ini=True,
    ),
    Option("--sqlbench-refresh", CALLS, "Ask every case again, whatever the store has."),
    Option("--sqlbench-offline", CALLS, "Make no call: a case that the store does not have is an error."),
    Option("--sqlbench-generate-only", CALLS, "Ask for every case and judge none."),
    Option(
        "--sqlbench-extract",
        JUDGING,
        "How the query is picked out of a reply: full, fences, off.",
        "HOW",
        "full",
        ini=True,
    ),
    Option("--sqlbench-policy", JUDGING, "Comparison policy that overrides those of the suites.", "NAME"),
    Option(
        "--sqlbench-also",
        JUDGING,
        "Further policies whose accuracy is shown beside, separated by commas.",
        "NAMES",
        ini=True,
    ),
    Option(
        "--sqlbench-witness",
        JUDGING,
        "Try each right prediction on N small generated databases; 30 find nearly all luck.",
        "N[:SEED]",
        ini=True,
    ),
    Option("--sqlbench-check", JUDGING, "Check the golds instead of a model's answers."),
    Option("--sqlbench-timeout", JUDGING, "Seconds that a predicted query may run.", "S", "10", ini=True),
    Option("--sqlbench-gold-timeout", JUDGING, "Seconds that a gold query may run.", "S", "60", ini=True),
    Option("--sqlbench-max-rows", JUDGING, "Rows that a query may return.", "N", "100000", ini=True),
    Option("--sqlbench-max-mb", JUDGING, "Megabytes that a result may have.", "N", "64", ini=True),
    Option(
        "--sqlbench-memory-mb", JUDGING, "Megabytes of memory that a predicted query may use.", "N", "1024", ini=True
    ),
    Option(
        "--sqlbench-database",
        JUDGING,
        "Server that answers the cases of a suite; ${NAME} in it is that environment variable.",
        "SUITE=URL",
        ini=True,
        repeats=True,
    ),
    Option(
        "--sqlbench-transpile-gold",
        JUDGING,
        "Rewrite golds for engines of another dialect, and check them against the original's rows.",
    ),
    Option("--sqlbench-allow-superuser", JUDGING, "Run predictions on a server even as a role that may do anything."),
    Option(
        "--sqlbench-repeat-query", JUDGING, "Run each query N times and flag results that differ.", "N", "1", ini=True
    ),
    Option("--sqlbench-inprocess", JUDGING, "Run predictions without the guarded child process, for debugging."),
    Option("--sqlbench-samples", MODEL, "Ask the model K times for each case of a suite.", "K", "1", ini=True),
    Option("--sqlbench-limit", SELECTION, "Only the first N cases of each suite.", "N"),
    Option("--sqlbench-sample", SELECTION, "N cases of each suite, drawn by a stable hash.", "N[:SEED]"),
    Option(
        "--sqlbench-select",
        SELECTION,
        "Only cases that were so when they last ran: wrong, error, regressed, fixed, cause:X.",
        "WORD",
    ),
    Option("--sqlbench-shard", SELECTION, "Only part I of N, by a stable hash; join the parts with merge.", "I/N"),
    Option(
        "--sqlbench-fail-under",
        GATE,
        "Fail below this accuracy in per cent, of a suite or score if named; @low: its lower bound.",
        "[SUITE:]PCT[@low]",
        ini=True,
        repeats=True,
    ),
    Option(
        "--sqlbench-compare", GATE, "Compare with a saved run; without a value the newest.", "NAME", ini=True, bare=""
    ),
    Option(
        "--sqlbench-compare-fail",
        GATE,
        "Fail if worse than the compared run by more, as accuracy:2%, regressions:3 or p:0.05.",
        "EXPR",
        ini=True,
        repeats=True,
    ),
    Option("--sqlbench-strict", GATE, "Wrong answers fail the session even where a gate is set.", ini=True),
    Option("--sqlbench-no-gate", GATE, "Report only: neither gates nor wrong answers fail the session."),
    Option("--sqlbench-gate-partial", GATE, "Evaluate the gates although not every case was run."),
    Option("--sqlbench-save", RUNS, "Save this run under a name, in the small form that is committed.", "NAME"),
    Option("--sqlbench-autosave", RUNS, "Save this run whole, under the next number."),
    Option("--sqlbench-json", RUNS, "Write this run whole to a file.", "PATH"),
    Option("--sqlbench-storage", RUNS, "Folder of saved runs.", "DIR", ".sqlbench", ini=True),
    Option(
        "--sqlbench-update-baseline",
        RUNS,
        "Write this run over the compared one; =force: though a gate is missed.",
        "force",
        bare="yes",
    ),
    Option("--sqlbench-fast", OUTPUT, "Report each case once instead of three times, without fixtures and capture."),
    Option("--sqlbench-db", OUTPUT, "Add this run to a results database, one SQLite file that grows.", "PATH"),
    Option("--sqlbench-html", OUTPUT, "Write the report as one HTML file that needs no network.", "PATH"),
    Option("--sqlbench-markdown", OUTPUT, "Write the report as Markdown, for a pull request.", "PATH"),
    Option("--sqlbench-show-wrong", OUTPUT, "Show at most N failed cases in full.", "N", "10", ini=True),
)
"""In the order in which ``--help`` and the documentation show them."""


def add_options(parser: pytest.Parser) -> None:
    """Register every option and ini key."""
    group = parser.getgroup("sqlbench", "text-to-SQL benchmarks")
    for option in OPTIONS:
        help_text = option.help + (f" Default: {option.default}." if option.default else "")
        keywords: dict[str, Any] = {"help": help_text.replace("%", "%%"), "dest": option.name, "default": None}
        if option.repeats:
            keywords.update(action="append", metavar=option.metavar)
        elif option.bare is not None:
            keywords.update(nargs="?", const=option.bare, metavar=option.metavar)
        elif option.metavar:
            keywords.update(metavar=option.metavar)
        else:
            keywords.update(action="store_true", default=False)
        group.addoption(option.flag, **keywords)
        if option.ini:
            if option.repeats:
                parser.addini(option.name, help_text, type="linelist", default=None)
            else:
                parser.addini(option.name, help_text, type="string", default=None)


def read_option(config: pytest.Config, name: str) -> Any:
    """Return an option as given on the command line, else in the ini file, else None."""
    value = config.getoption(name)
    if value is not None:
        return value
    option = next(option for option in OPTIONS if option.name == name)
    return (config.getini(name) or None) if option.ini else None


def asks_for_gates(config: pytest.Config) -> bool:
    """True if an option of the command line says that cases are to be gated or kept."""
    return any(is_given(config, option.name) for option in OPTIONS if option.heading in (GATE, RUNS))


def is_given(config: pytest.Config, name: str) -> bool:
    """True if the command line has this option, be it without a value."""
    return config.getoption(name) not in (None, False)


def read_list(config: pytest.Config, name: str) -> list[str]:
    """Return the values of an option that may be given several times; the command line replaces the ini file's."""
    return list(read_option(config, name) or ())


def read_switch(config: pytest.Config, name: str) -> bool:
    """Return a switch that the ini file may set too; raise `pytest.UsageError` for what is neither yes nor no."""
    if config.getoption(name):
        return True
    word = str(config.getini(name) or "false").lower()
    if word not in ("true", "yes", "on", "1", "false", "no", "off", "0"):
        raise pytest.UsageError(f"{name} is {word!r} in the ini file. Allowed: true, false.")
    return word in ("true", "yes", "on", "1")


def read_number(
    config: pytest.Config, name: str, kind: Callable[[str], float], default: float, least: float = 0
) -> float:
    """Return a numeric option; raise `pytest.UsageError` that says what is allowed."""
    value = read_option(config, name)
    if value is None:
        return default
    flag = "--" + name.replace("_", "-")
    wanted = "a whole number" if kind is int else "a number"
    try:
        number = kind(value)
    except ValueError:
        raise pytest.UsageError(f"{flag} is {value!r}, wanted {wanted} of at least {least:g}") from None
    if not least <= number < float("inf"):
        raise pytest.UsageError(f"{flag} is {value!r}, wanted {wanted} of at least {least:g}")
    return number


def read_choice(config: pytest.Config, name: str, allowed: tuple[str, ...], default: str) -> str:
    """Return an option that is one of a closed list; raise `pytest.UsageError` that prints the list."""
    value = read_option(config, name)
    if value is None:
        return default
    if value not in allowed:
        flag = "--" + name.replace("_", "-")
        raise pytest.UsageError(f"{flag} is {value!r}. Allowed: {', '.join(allowed)}.")
    return str(value)


def document_options() -> list[str]:
    """Return the options as Markdown tables, a table a heading."""
    lines: list[str] = []
    for heading in dict.fromkeys(option.heading for option in OPTIONS):
        lines += [f"### {heading}", "", "| option | ini | default | meaning |", "|---|---|---|---|"]
        for option in OPTIONS:
            if option.heading == heading:
                value = f"={option.metavar}" if option.bare is None else f"[={option.metavar}]"
                flag = option.flag + (value if option.metavar else "")
                ini = f"`{option.name}`" if option.ini else ""
                meaning = option.help.replace("|", "\\|") + (" May be repeated." if option.repeats else "")
                lines.append(f"| `{flag}` | {ini} | {option.default} | {meaning} |")
        lines.append("")
    return lines[:-1]
