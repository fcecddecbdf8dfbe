"""ACCEPTANCE: an instruction that reveals nothing, two more executions in the shared environment, every check, the example."""

from __future__ import annotations

from django.db import transaction

from examples.checking.base import Observed, State
from examples.checking.run import CHECKS, TITLES
from examples.generation.leaks import instruction_of, refuse_leaks
from examples.generation.making import create_example, draft_of, hidden_and_shown, job_of
from examples.generation.plain import plain_instruction
from examples.generation.rules import RuleBroken, json_of
from examples.generation.standing import Ending
from examples.generation.work import Unjudged, Work
from examples.llm.prompting import fenced
from examples.models import Fragment, GenerationRun, Round, Step, Version, audit

SEEDS = (1, 2)


def instruct(work: Work) -> Round:
    """Keep the instruction: from the docstring, or as the model writes it. Raises plain.PlainRefused."""
    function = work.fragment.function
    draft = draft_of(work.fragment, program=work.standing.program, tests=work.standing.tests)
    if work.run.path == GenerationRun.Path.PLAIN:
        made = plain_instruction(work.fragment.source, function)
        return work.keep(
            step=Step.ACCEPTANCE, subject=Round.Subject.INSTRUCTION, text=made.text, note=made.note
        )
    return work.ask(
        "acceptance",
        {"program": fenced(work.standing.program), "function": function},
        step=Step.ACCEPTANCE,
        subject=Round.Subject.INSTRUCTION,
        extract=lambda reply: instruction_of(json_of(reply)),
        check=lambda text: _refuse_leaks(text, draft),
        json=True,
    )


def accept(work: Work) -> Ending | None:
    """Bring the fragment to acceptance, or return why it ends before; None as well where the instruction is asked again.

    Where the run is reviewed, what held awaits a curator.
    """
    standing = work.standing
    draft = draft_of(
        work.fragment, program=standing.program, tests=standing.tests, instruction=standing.instruction
    )
    if _leaks_by_now(work, draft):
        return None
    references = [work.execute(job_of(draft, seed=seed)) for seed in SEEDS]
    observed = Observed(draft, references, work.execute(job_of(draft, empty=True)))
    for name, find in CHECKS.items():
        finding = find(observed)
        if finding.state == State.UNJUDGED:
            raise Unjudged(finding.sentence)
        if finding.state == State.FAILED:
            return Ending(f"check_{name}", f"{TITLES[name]}: {finding.sentence}")
    if work.run.review:
        work.claim.end(Fragment.State.READY)
        return None
    with transaction.atomic():
        work.claim.renew()
        example = create_example(work.fragment, draft)
        work.claim.end(Fragment.State.ACCEPTED, example=example)
        subject = f"example:{example.pk}"
        audit(work.run.created_by, "example generated", subject, fragment=work.fragment.pk, run=work.run.name)
    return None


def _refuse_leaks(instruction: str, draft: Version) -> None:
    hidden, shown = hidden_and_shown(draft)
    refuse_leaks(instruction, reference=draft.reference, hidden=hidden, shown=shown)


def _leaks_by_now(work: Work, draft: Version) -> bool:
    """Return whether the instruction leaks what was changed behind it; it is then asked for again."""
    said = work.standing.latest(Round.Subject.INSTRUCTION)
    assert said is not None
    if work.run.path == GenerationRun.Path.PLAIN or said.edited_by_id is not None:
        return False  # the docstring is the author's word, and what a curator writes is a curator's
    try:
        _refuse_leaks(said.text, draft)
    except RuleBroken as broken:
        with transaction.atomic():
            work.claim.renew()
            Round.objects.filter(pk=said.pk).update(rule=broken.rule, message=broken.message)
        work.look()
        return True
    return False
