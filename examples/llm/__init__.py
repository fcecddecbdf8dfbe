"""MODELS: ask a language model behind an OpenAI-compatible endpoint; replies are text of strangers, to be judged."""

from __future__ import annotations

from examples.llm.base import Model, ModelRefused, Parameters, Prompt, Reply, TryLater, complete, request_of
from examples.llm.endpoint import Endpoint, configured
from examples.llm.patience import patiently

__all__ = [
    "Endpoint",
    "Model",
    "ModelRefused",
    "Parameters",
    "Prompt",
    "Reply",
    "TryLater",
    "complete",
    "configured",
    "patiently",
    "request_of",
]
