"""``openai:MODEL``: any server that speaks the OpenAI protocol, by chat or by completion, over httpx."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.fingerprint import Fingerprint, hash_text
from pytest_sqlbench.predictors.loop import EventLoop
from pytest_sqlbench.predictors.openai_answers import parse_answer, read_answer, read_refusal
from pytest_sqlbench.predictors.options import APIS, ModelOptions
from pytest_sqlbench.predictors.prices import Price, find_price
from pytest_sqlbench.predictors.prompt import Prompt, PromptBook

if TYPE_CHECKING:
    import ssl

    import httpx

PUBLIC_URL = "https://api.openai.com/v1"
MAX_REPLY_BYTES = 64 * 2**20


class OpenAIPredictor:
    """Asks one model. Calls run in one event loop, so that all of them can be cancelled at once."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._options = options
        self._by_suite: dict[str, ModelOptions] = {}
        self._book = PromptBook(options)
        self._loop = EventLoop()
        self._idle: list[httpx.AsyncClient] = []
        """One client, with one connection, for each call that was ever under way at once; used in the loop only.

        httpx looks through all connections of a client several times a call: with 32 in one, that cost more than
        everything else together.
        """

    def bind_suite(self, suite: Suite) -> None:
        """Read the suite's template and what its manifest says of the model."""
        self._by_suite[suite.name] = options = self._options.for_suite(suite)
        _check_url(_base_url(options))
        self._book.add_suite(suite)

    def warm_up(self) -> None:
        """Import the client, which takes longer than some calls."""
        _open_client(_base_url(self._options))

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Ask once.

        Raises:
            CallError: The endpoint gave no answer; says whether another try may help.
        """
        import httpx  # noqa: F401 - here, where no time limit runs and no other call waits; a replay never needs it

        options = self._by_suite.get(case.suite, self._options)
        prompt = self._book.write(case)
        body = self._body(prompt, options)
        answer = self._loop.run(self._post(body, options), options.timeout_s)
        return read_answer(answer, prompt, self._price_of(options))

    def fingerprint(self, case: Case) -> Fingerprint:
        """Say what decides the answer: where it is asked, with what, and the prompt. No key, no login of a URL."""
        options = self._by_suite.get(case.suite, self._options)
        said = {
            "url": _without_login(_base_url(options)),
            "api": options.api,
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "stop": list(options.stop),
            # only its hash: such fields may hold what is nobody's business
            "extra_body": hash_text(json.dumps(options.extra_body, sort_keys=True, default=dict))[:16],
        }
        return Fingerprint(json.dumps(said), self._book.write(case).hash)

    def close(self) -> None:
        """Cancel every call that is under way. Closing twice is allowed."""
        self._loop.close(self._hang_up())

    async def _hang_up(self) -> None:
        for client in self._idle:
            await client.aclose()
        self._idle.clear()

    def _body(self, prompt: Prompt, options: ModelOptions) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model}
        if options.api == "completion":
            body["prompt"] = prompt.text
        else:
            body["messages"] = [{"role": "user", "content": prompt.text}]
        body["temperature"] = options.temperature
        body["max_tokens"] = options.max_tokens
        body["stop"] = list(options.stop) or None
        body.update(options.extra_body)
        return {name: value for name, value in body.items() if value is not None}

    async def _post(self, body: Mapping[str, Any], options: ModelOptions) -> Any:
        import httpx

        base = _base_url(options)
        client = self._idle.pop() if self._idle else _open_client(base)
        path = "/completions" if options.api == "completion" else "/chat/completions"
        try:
            async with client.stream("POST", base + path, json=body, headers=_headers(options)) as response:
                content = await _read_body(response)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise CallError(f"{_without_login(base)}: {error}", Trying.HOPELESS) from error
        except httpx.RequestError as error:
            what = str(error) or type(error).__name__
            raise CallError(f"{_without_login(base)}: {what}", Trying.AGAIN) from error
        finally:
            self._idle.append(client)
        if response.status_code != 200:
            raise read_refusal(_without_login(base), response.status_code, response.headers, content)
        return parse_answer(_without_login(base), content)

    def _price_of(self, options: ModelOptions) -> Price | None:
        is_public = _base_url(options) == PUBLIC_URL
        return find_price(self._model, options.prices, is_public=is_public)


def open_predictor(rest: str, options: ModelOptions) -> OpenAIPredictor:
    """Make the client; nothing is called before the first case.

    Raises:
        UsageError: No model is named, httpx is not installed, or the base URL is none.
    """
    if not rest:
        raise UsageError("model 'openai:' names no model. Write 'openai:MODEL', as the endpoint calls it.")
    if find_spec("httpx") is None:
        raise UsageError("model 'openai:…' needs httpx: pip install 'pytest-sqlbench[openai]'")
    if options.api not in APIS:
        raise UsageError(f"api is {options.api!r}. Allowed: {', '.join(APIS)}.")
    _check_url(_base_url(options))
    find_price(rest, options.prices, is_public=False)  # a file of prices that cannot be read is told at once
    return OpenAIPredictor(rest, options)


def _open_client(base: str) -> httpx.AsyncClient:
    import httpx

    # no timeouts here: the whole call has one. Reading certificates takes long, and plain HTTP needs none.
    needs_tls = base.startswith("https:") or bool(getproxies())
    return httpx.AsyncClient(timeout=None, verify=_tls_context() if needs_tls else False)


@cache
def _tls_context() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


def _base_url(options: ModelOptions) -> str:
    return (options.base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_URL).rstrip("/")


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_url = False
    if not is_url:
        raise UsageError(f"base URL {_without_login(url)!r} is none. Write it as http://host:port/v1.")


def _without_login(url: str) -> str:
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "(not a URL)"


def _headers(options: ModelOptions) -> dict[str, str]:
    key = os.environ.get(options.key_variable, "").strip()
    if key:
        if not key.isascii() or not key.isprintable():
            raise CallError(f"the key in {options.key_variable} holds characters that no key has", Trying.HOPELESS)
        return {"Authorization": f"Bearer {key}"}
    if _base_url(options) == PUBLIC_URL:
        raise CallError(f"no key: the environment variable {options.key_variable} is not set", Trying.HOPELESS)
    return {}


async def _read_body(response: httpx.Response) -> bytes:
    chunks, size = [], 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise CallError(f"the endpoint's answer is larger than {MAX_REPLY_BYTES >> 20} MB")
    return b"".join(chunks)
