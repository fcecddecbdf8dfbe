"""REPLAY: a recorded run answers again, so that the same rounds come about byte for byte and nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from examples.generation.calls import reply_of
from examples.llm import Model, ModelRefused, Reply, configured
from examples.llm.base import hash_of
from examples.models import Call, Fragment


class ReplayDiverged(Exception):
    """The recorded run was never asked this: prompts, fragments or executions are no longer the same."""


@dataclass(frozen=True)
class Replay:
    """A model that answers a fragment's questions as a recorded run's fragment of the same number was answered."""

    fragment: Fragment

    def answer(self, request: Mapping[str, Any]) -> Reply:
        """Return the recorded reply; the n-th time a question is put, the n-th one. Raises ReplayDiverged."""
        same = Call.objects.filter(state=Call.State.RECORDED, request_hash=hash_of(request))
        before = same.filter(fragment=self.fragment).count()
        recorded = same.filter(run=self.fragment.run.replays, fragment__number=self.fragment.number)
        found = recorded.order_by("number", "attempt")[before : before + 1]
        if not found:
            raise ReplayDiverged(
                f"Run {self.fragment.run.replays} was never asked this of fragment {self.fragment.number}."
            )
        return reply_of(found[0])


@dataclass(frozen=True)
class _Nobody:
    """What a run without a model asks: nothing."""

    def answer(self, request: Mapping[str, Any]) -> Reply:
        """Raise ModelRefused."""
        raise ModelRefused(f"This run goes without any model, and was to ask {request.get('model')}.")


def model_of(fragment: Fragment) -> Model:
    """Return whom a fragment's run asks. Raises ModelRefused where this worker reaches another endpoint than the run's."""
    run = fragment.run
    if run.path == run.Path.PLAIN:
        return _Nobody()
    if run.replays_id is not None:
        return Replay(fragment)
    if run.base_url != settings.LLM_BASE_URL:
        raise ModelRefused(
            f"The run asks {run.base_url or 'no endpoint'}, and BENCHWRIGHT_LLM_URL is "
            f"{settings.LLM_BASE_URL or 'not set'}. Set it to the run's, or start another run."
        )
    return configured()
