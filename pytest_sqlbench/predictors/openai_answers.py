"""What an OpenAI-compatible endpoint answered: a prediction, or how the call failed. No network here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.prices import Price
from pytest_sqlbench.predictors.prompt import Prompt

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_HOPELESS = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 405})


def parse_answer(where: str, content: bytes) -> Any:
    """Parse the body of an answer; raise `CallError` if it is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        shown = content[:80].decode("utf-8", "replace")
        raise CallError(f"{where}: the answer is not JSON: {shown!r}", Trying.AGAIN) from error


def read_refusal(where: str, status: int, headers: Mapping[str, str], content: bytes) -> CallError:
    """Turn an answer that is not 200 into a failure with the endpoint's own words."""
    said, code = _error_text(content)
    trying = Trying.AGAIN if status in _BUSY else Trying.HOPELESS if status in _HOPELESS else Trying.NEVER
    if code in ("insufficient_quota", "billing_hard_limit_reached", "model_not_found", "invalid_api_key"):
        trying = Trying.HOPELESS
    after = _retry_after_s(headers.get("retry-after", "")) if trying is Trying.AGAIN else None
    return CallError(f"HTTP {status} from {where}" + (f": {said}" if said else ""), trying, after)


def _error_text(content: bytes) -> tuple[str, str]:
    """Return what the endpoint says, and its code for it."""
    text = content[:2000].decode("utf-8", "replace")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return ("" if text.lstrip().startswith("<") else text), ""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or text), str(error.get("code") or "")
    return str(error), ""


def _retry_after_s(header: str) -> float | None:
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, TypeError, OverflowError):
        return None


def read_answer(answer: Any, prompt: Prompt, price: Price | None) -> Prediction:
    """Read the first choice of an answer; raise `CallError` if there is none."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        said = answer.get("error") if isinstance(answer, dict) else None
        shown = json.dumps(said if said is not None else answer)[:200]
        raise CallError(f"the endpoint's answer has no choices: {shown}", Trying.AGAIN)
    choice = choices[0]
    text = _text_of(choice)
    if text and prompt.prefix and not text.lstrip().upper().startswith(prompt.prefix.split(" ")[0]):
        text = prompt.prefix + text.lstrip()
    return Prediction(text, _usage_of(answer, price), finish_reason=str(choice.get("finish_reason") or ""))


def _text_of(choice: Mapping[str, Any]) -> str:
    """Return the reply; a model that refuses, or only reasons, has replied too."""
    message = choice.get("message")
    if not isinstance(message, Mapping):
        found = choice.get("text")
        return found if isinstance(found, str) else ""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not content:
        content = message.get("refusal")
    return content if isinstance(content, str) else ""


def _usage_of(answer: Mapping[str, Any], price: Price | None) -> Usage | None:
    said = answer.get("usage")
    if not isinstance(said, Mapping):
        return None
    prompt, completion = _count(said.get("prompt_tokens")), _count(said.get("completion_tokens"))
    cost = said.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < 1e6:
        cost = price.cost_usd(prompt, completion) if price is not None else None
    usage = Usage(prompt, completion, cost)
    return None if usage == Usage() else usage


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12
    return value if is_count else None
