"""JOB: what is executed for a version: a program with all tests, with the visible ones, or with a scratch snippet."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from examples.assembly import Answer
from examples.checking.canaries import canaries_of
from examples.languages.ways import ways
from examples.masking import Segment, fill, test_source
from examples.models import Version
from examples.visible import VisiblePart
from runner.sandbox.base import Job, Limits

# The one limit rule (design.md, Runner): clamp(10 x reference CPU, 1 s, 10 s) unless the dataset states its own.
FACTOR, SHORTEST, LONGEST = 10, 1.0, 10.0


def cpu_limit(reference_cpu_seconds: float, own: float | None) -> float:
    """Return the CPU limit in seconds that follows from the reference's CPU time, or the dataset's own."""
    return own if own is not None else min(max(FACTOR * reference_cpu_seconds, SHORTEST), LONGEST)


def limits_of(version: Version) -> Limits:
    """Return the version's limits; before its checks set them, the dataset's own or the longest."""
    seconds = version.cpu_limit_seconds or version.example.dataset.cpu_limit_seconds or LONGEST
    return Limits.for_cpu(seconds)


def segments_of(version: Version) -> tuple[Segment, ...]:
    """Return the version's tests as they were taken out of the source."""
    return tuple(Segment(**each) for each in version.segments)


def visible_of(version: Version) -> VisiblePart:
    """Return the part of the version's tests that an annotator sees."""
    tests = test_source(segments_of(version))
    return _visible_part(version.language, tests, tuple(version.expected), version.block, version.visible)


@lru_cache(maxsize=256)
def _visible_part(
    language: str, tests: str, expected: tuple[str, ...], block: str, count: int
) -> VisiblePart:
    """Cut the tests once a process: every page, run and frame of an attempt asks for the same part."""
    return ways(language).visible_part(tests, expected, block, count=count)


def reference_program(version: Version) -> str:
    """Return the context with the reference in its gap."""
    return fill(version.context, version.gap, version.reference)


def empty_program(version: Version) -> str:
    """Return the context with a body in its gap that does nothing."""
    return ways(version.language).empty_program(version.context, version.gap)


def full_job(version: Version, program: str) -> Job:
    """Return the job of a submission: all tests, so nothing that it prints or that they say is kept; and canaries."""
    return replace(_all_tests(version, program), canaries=canaries_of(version))


def check_job(version: Version, program: str, *, seed: int = 0) -> Job:
    """Return the job of a check: all tests, and for the curator what they say, how far a network was tried.

    The version may be one that is not saved yet.
    """
    return replace(_all_tests(version, program), seed=seed, revealed=True, watch_network=True)


def _all_tests(version: Version, program: str) -> Job:
    return Job(
        program=program,
        tests=test_source(segments_of(version)),
        expected=tuple(version.expected),
        block=version.block,
        limits=limits_of(version),
        language=version.language,
    )


def answer_program(version: Version, function: str, module: str) -> str:
    """Return the program that runs an answer in the version's context."""
    answer = Answer(function, module)
    return ways(version.language).assemble(version.context, version.gap, answer).program


def visible_job(version: Version, program: str) -> Job:
    """Return the job of a run on demand: the visible tests, whose values and output the author may read."""
    visible = visible_of(version)
    return Job(
        program=program,
        tests=visible.text,
        expected=visible.expected,
        block=visible.block,
        limits=limits_of(version),
        revealed=True,
        language=version.language,
    )


def scratch_job(version: Version, program: str, snippet: str) -> Job:
    """Return the job of a scratch run: the author's own snippet after the program, its output shown."""
    return Job(
        program=program,
        tests="",
        expected=(),
        block=snippet,
        limits=limits_of(version),
        revealed=True,
        language=version.language,
    )
