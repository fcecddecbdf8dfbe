"""One profile per language: how its tests are laid out, built and run. Nothing outside knows a language's ways."""

from __future__ import annotations

from runner.languages.base import CanaryPlan, Doubting, Language
from runner.languages.cpp.profile import CppProfile
from runner.languages.javascript.profile import JavaScriptProfile
from runner.languages.python.profile import PythonProfile
from runner.sandbox.base import Job

_PROFILES: dict[str, Language] = {
    profile.name: profile for profile in (PythonProfile(), JavaScriptProfile(), CppProfile())
}


class LanguageUnknown(ValueError):
    """No profile of that name is installed."""


def language(name: str) -> Language:
    """Return the profile of a language. Raises LanguageUnknown."""
    try:
        return _PROFILES[name]
    except KeyError:
        raise LanguageUnknown(
            f"There is no language profile {name!r}; there are: {', '.join(_PROFILES)}."
        ) from None


def canary_plan(job: Job) -> CanaryPlan:
    """Return what may serve as canaries of a job; a language that has none says at least whether one would be needed."""
    profile = language(job.language)
    if isinstance(profile, Doubting):
        return profile.canaries(job)
    planned = profile.prepare(job).planned
    sure = bool(planned) and all(each.comparator is not None and each.certain for each in planned)
    return CanaryPlan(not sure, ())
