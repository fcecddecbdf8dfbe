"""Tags of queue and onboarding: the fresh forms by which an example is left, and a step in words."""

from __future__ import annotations

from django import forms, template

from annotation.forms.onboarding import BrokenForm, DeclineForm, DeferForm
from annotation.onboarding.steps import Step

register = template.Library()

WORDS = {
    Step.CONSENT: "Consent",
    Step.BACKGROUND: "Your experience",
    Step.GUIDELINES: "Guidelines",
    Step.WARM_UP: "Warm-up",
    Step.QUALIFICATION: "Qualification",
    Step.WORK: "Work",
    Step.NOT_QUALIFIED: "Qualification",
}


@register.simple_tag
def leave_forms() -> dict[str, forms.Form]:
    """Return an empty form for each way to leave an example."""
    return {"defer": DeferForm(), "decline": DeclineForm(), "broken": BrokenForm()}


@register.filter
def step_words(step: str) -> str:
    """Return a step's name as people read it."""
    return WORDS[Step(step)]
