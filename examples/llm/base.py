"""MODELS: what is asked, what comes back, and what can go wrong; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from examples.llm.patience import TryLater, patiently

__all__ = [
    "Model",
    "ModelRefused",
    "Parameters",
    "Prompt",
    "Reply",
    "TryLater",
    "complete",
    "hash_of",
    "request_of",
]


@dataclass(frozen=True)
class Prompt:
    """What a model reads: the rules it works by, and the task."""

    system: str
    user: str


@dataclass(frozen=True)
class Parameters:
    """How a model is asked. None leaves a parameter to the endpoint; `json` asks for an object and nothing else."""

    model: str
    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int = 2048
    json: bool = False


@dataclass(frozen=True)
class Reply:
    """What a model said: the text, why it ended ("stop", "length"), and tokens as the endpoint counts (None: it does not)."""

    text: str
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ModelRefused(Exception):
    """The endpoint does not take this request, nor would it the next time: key, model or parameters are wrong."""


class Model(Protocol):
    """Something that answers requests."""

    def answer(self, request: Mapping[str, Any]) -> Reply:
        """Send the request once. Raises TryLater where it may be sent again, ModelRefused where that is useless."""
        ...


def request_of(prompt: Prompt, parameters: Parameters) -> dict[str, Any]:
    """Return the body of a request, https://platform.openai.com/docs/api-reference/chat/create."""
    request: dict[str, Any] = {
        "model": parameters.model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "temperature": parameters.temperature,
        "max_tokens": parameters.max_tokens,
    }
    if parameters.top_p is not None:
        request["top_p"] = parameters.top_p
    if parameters.seed is not None:
        request["seed"] = parameters.seed
    if parameters.json:
        request["response_format"] = {"type": "json_object"}
    return request


def hash_of(request: Mapping[str, Any]) -> str:
    """Return the sha256, in hex, of a request as canonical JSON: the same whatever order a database keeps keys in."""
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def complete(model: Model, prompt: Prompt, *, parameters: Parameters, n: int = 1) -> list[Reply]:
    """Return n replies to one prompt, each asked by itself, the seed one higher each time.

    One request each, since many endpoints ignore the parameter `n`. Raises TryLater after the last try, ModelRefused.
    """
    replies = []
    for at in range(n):
        seed = None if parameters.seed is None else parameters.seed + at
        request = request_of(prompt, replace(parameters, seed=seed))
        replies.append(patiently(partial(model.answer, request)))
    return replies
