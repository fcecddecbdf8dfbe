"""One example full of marks, and people around it: whoever is sent a mark has seen what it stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.test import Client
from django.utils import timezone
from django.utils.text import slugify

from annotation import evidence
from annotation.accounts import create_account
from annotation.assignment import take_slot
from annotation.attempts import close_attempt, settle
from annotation.drafts import save_draft
from annotation.fixing import try_fix
from annotation.invitations import NewInvitation, invite
from annotation.models import ApiToken, Attempt, BrokenReport, Fix, GoldItem, Run, SignUp, Study, User
from annotation.runs import run_visible, submit
from annotation.signing_up import sign_up
from annotation.tokens import make_token
from config.access import Role
from examples.alternatives import accept_alternative
from examples.assembly import Answer, assemble
from examples.editing import edit_of
from examples.generation.fragments.reading import read_text
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import Wanted
from examples.generation.fragments.taking import take_fragments
from examples.jobs import full_job
from examples.models import Alternative, Check, Fragment, ImportReport, ModelSample, Release, Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from examples.releasing.lines import identity
from runner.models import Execution, TestRow
from runner.outcome import Outcome
from tests.annotation.factories import finish, make_version
from tests.examples.evaluation.factories import judged, make_evaluation
from tests.factories import make_attempt, make_checks, make_environment, make_study

# Identifiers, so that no highlighter, escaping or JSON encoding takes a mark apart.
CONTEXT, VISIBLE = "mark_of_context", "mark_of_visible"
REFERENCE, HIDDEN = "mark_of_reference", "mark_of_hidden"
OWN, OTHERS, OTHERS_TEXT = "mark_of_own", "mark_of_others", "mark_of_text"
OUTPUT, HELD_OUT = "mark_of_output", "mark_of_held_out"
MODEL = "mark_of_model"

# Curators come last: what they change is nobody else's matter any more.
KINDS = ("anonymous", "stranger", "other", "owner", "reader", "curator")

# What nobody may be sent but those who curate; and beside it what belongs to the owner of the attempt alone.
SECRET = (REFERENCE, HIDDEN, OTHERS, OTHERS_TEXT, OUTPUT, HELD_OUT, MODEL)
PRIVATE = (*SECRET, CONTEXT, VISIBLE, OWN)

SOURCE = f'''"""Prices in a shop."""

{CONTEXT} = 0.2


def with_tax(net):
    """Return the price with tax."""
    {REFERENCE} = 1 + {CONTEXT}
    return round(net * {REFERENCE}, 2)


def test_with_tax():
    {VISIBLE} = 100
    assert with_tax({VISIBLE}) == 120.0
    {HIDDEN} = 19.99
    assert with_tax({HIDDEN}) == 23.99
'''


def answer(mark: str) -> str:
    """Return a function that carries a mark."""
    return f"def with_tax(net):\n    {mark} = 1.2\n    return round(net * {mark}, 2)\n"


@dataclass(frozen=True)
class World:
    """The people, and the rows that routes take as arguments."""

    owner: User  # annotator with the open attempt
    other: User  # annotator of the same study, whose attempt is closed
    stranger: User  # annotator of no study
    curator: User
    admin: User
    reader: User
    study: Study
    version: Version
    attempt: Attempt  # the owner's
    others_attempt: Attempt
    run: Run  # the owner's, of the visible tests
    submission: Run  # the other's
    revealing: Attempt  # the owner's, closed, in a study that shows the reference once it cannot come again
    fix: Fix  # of the study's version, tried by the curator
    alternative: Alternative  # the other's solution, accepted
    frozen: Release  # of an example with the same marks, and of one in a split that is kept private
    kept: Version  # the one in that split
    sample: ModelSample  # a model's, of the example in the split that readers may download
    kept_sample: ModelSample  # of the one that is kept private
    fragment: Fragment  # of generation, with the reference in it
    draft: Release
    check_execution: Execution
    report: ImportReport
    invitation: NewInvitation
    asked: SignUp
    token_key: str  # the public part of a token of the curator's

    def person(self, kind: str) -> User | None:
        """Return who is meant by owner, other, stranger, curator, admin or reader; None for anonymous."""
        return None if kind == "anonymous" else getattr(self, kind)

    def forbidden(self, kind: str) -> tuple[str, ...]:
        """Return the marks that such a person must never be sent; curators see all there is.

        What is held out has no mark in its name: that it is in the release at all is what readers must not learn.
        """
        membership = (identity(self.kept), self.kept.content_hash)
        return {
            "anonymous": (*PRIVATE, *membership),
            "stranger": (*PRIVATE, *membership),
            "other": (REFERENCE, HIDDEN, OUTPUT, OWN, HELD_OUT, MODEL, *membership),
            "owner": (*SECRET, *membership),
            "reader": (OTHERS, OTHERS_TEXT, OUTPUT, OWN, HELD_OUT, MODEL, *membership),
        }.get(kind, ())


def make_world() -> World:
    """Return a world with an open attempt of one annotator and a closed one of another, on one marked version."""
    now = timezone.now()
    people: dict[str, Any] = {
        name: create_account(username=name, role=role, password="correct horse battery")
        for name, role in {
            "owner": Role.ANNOTATOR,
            "other": Role.ANNOTATOR,
            "stranger": Role.ANNOTATOR,
            "curator": Role.CURATOR,
            "admin": Role.ADMIN,
            "reader": Role.READER,
        }.items()
    }
    make_environment("plain")
    version = make_version(source=SOURCE)
    study = make_study(people=[people["owner"], people["other"]], versions=[version])
    others_attempt, submission = _finished_work(study, people["other"], now)
    revealing = _closed_where_it_is_revealed(version, people["owner"], now)
    attempt = take_slot(study, people["owner"], now)
    assert isinstance(attempt, Attempt)
    save_draft(attempt, function=answer(OWN), module="", base_revision=0)
    run = run_visible(attempt, function=answer(OWN), module="", key="owner-1", now=now)
    finish(run)
    fix, alternative = _judged(version, submission, people["curator"])
    frozen, kept = _frozen_release(people["other"], people["curator"])
    BrokenReport.objects.create(
        attempt=others_attempt, study=study, version=version, what="tests", evidence=OTHERS_TEXT
    )
    GoldItem.objects.create(study=study, version=kept, purpose="later", marked_by=people["curator"])
    return World(
        **people,
        study=study,
        version=version,
        attempt=attempt,
        others_attempt=others_attempt,
        run=run,
        submission=submission,
        revealing=revealing,
        fix=fix,
        alternative=alternative,
        frozen=frozen,
        kept=kept,
        sample=_model_sample(frozen, "test", f"model of {frozen.name}"),
        kept_sample=_model_sample(frozen, "kept", HELD_OUT),
        fragment=_fragment(),
        draft=_draft("2.0.0", people["curator"]),
        check_execution=_evidence(version),
        report=ImportReport.objects.create(
            dataset=version.example.dataset, dataset_name="shop", file_name="shop.jsonl", state="finished"
        ),
        asked=sign_up(username="asks", password="correct horse battery", note="solves puzzles"),
        invitation=invite(role=Role.ANNOTATOR, by=people["curator"]),
        token_key=_token_key(people["curator"]),
    )


def _judged(version: Version, submission: Run, curator: User) -> tuple[Fix, Alternative]:
    """Return a fix of the version, for which its reference and the other's submission are to be executed, and that
    submission as an accepted alternative."""
    edit = edit_of(version)
    fix = try_fix(version, replace(edit, tests=edit.tests + "\n"), note=OTHERS_TEXT, by=curator)
    alternative = accept_alternative(
        version,
        function=submission.function,
        module="",
        sha256=submission.sha256,
        reason=OTHERS_TEXT,
        by=curator,
    )
    return fix, alternative


def _frozen_release(solver: User, curator: User) -> tuple[Release, Version]:
    """Return a frozen release of two other examples, each solved once, and the one of them that is held out.

    The first has the marks of the study's example; of the second the whole line is a secret.
    """
    shown, kept = make_version(source=SOURCE), make_version(source=SOURCE.replace("mark_of", HELD_OUT))
    past = make_study(name="past", versions=[shown, kept], people=[solver], solvers=1)
    for version in (shown, kept):
        make_checks(version)
        make_attempt(past, version, solver)
    draft = _draft("1.0.0", curator)
    for split, version in (("test", shown), ("kept", kept)):
        draft.items.filter(version=version).update(split=draft.splits.get(name=split))
    return freeze(draft, by=curator, people=evidence), kept


def _model_sample(release: Release, split: str, name: str) -> ModelSample:
    """Return a model's sample for the version of a split, with a program that was executed for it."""
    part = release.splits.get(name=split)
    version = release.items.get(split=part).version
    evaluation = make_evaluation([version], split=part, name=slugify(name))
    (sample,) = judged(evaluation.items.get(), Outcome.PASSED)
    ModelSample.objects.filter(pk=sample.pk).update(reply=answer(MODEL))
    job = full_job(version, answer(MODEL))
    Execution.objects.filter(pk=sample.execution_id).update(job_data=job.as_json())
    return sample


def _fragment() -> Fragment:
    """Return a fragment that waits, whose source is the marked example's, with a package that a reply asked for."""
    run = plain_run("marked-run", dataset="marked-made")
    take_fragments(run, [read_text(SOURCE, path="shop.py", function="with_tax")], Wanted())
    fragment = run.fragments.get()
    fragment.wishes.create(package="taxes", said="pip install taxes")
    return fragment


def _draft(number: str, curator: User) -> Release:
    """Return a draft of the versions that somebody has solved in the study named past, half of them held out."""
    splits = (SplitPlan("test", 0.5), SplitPlan("kept", 0.5, held_out=True))
    plan = DraftPlan(name="marked", number=number, seed=1, splits=splits, licence="MIT")
    versions = Version.objects.filter(slots__study__name="past")
    return draft_release(plan, versions=versions, by=curator)


def _evidence(version: Version) -> Execution:
    """Return an execution that a check of the version rests on: it holds the reference and every test."""
    program = assemble(version.context, version.gap, Answer(answer(REFERENCE), "")).program
    execution = Execution.objects.create(
        queue=Execution.Queue.BULK,
        environment=version.environment,
        job_data=full_job(version, program).as_json(),
    )
    check = Check.objects.create(
        version=version, name="reference", state=Check.State.PASSED, finding=f"passed; {OUTPUT}"
    )
    check.executions.add(execution)
    return execution


def _token_key(owner: User) -> str:
    """Return the public part of a new token of the owner's."""
    make_token(owner, name="script", scopes=["releases:read"], days=7)
    return str(ApiToken.objects.get(user=owner).token_key)


def _closed_where_it_is_revealed(version: Version, person: User, now: Any) -> Attempt:
    """Return a closed attempt at the version in a study of its own that shows the reference after closing."""
    study = make_study(
        "revealing", versions=[version], people=[person], solvers=1, reveals_after_closing=True
    )
    attempt = take_slot(study, person, now)
    assert isinstance(attempt, Attempt)
    finish(submit(attempt, function=answer(OWN), module="", key="r-1", now=now), Outcome.FAILED)
    settle(attempt, now=now)
    answers = {"outcome": "gave_up", "difficulty": "trivial", "instruction_quality": 0, "test_quality": 0}
    close_attempt(attempt, answers=answers, now=now)
    return attempt


def _finished_work(study: Study, person: User, now: Any) -> tuple[Attempt, Run]:
    """Return the closed attempt of a person and its submission, whose output quotes a hidden test."""
    attempt = take_slot(study, person, now)
    assert isinstance(attempt, Attempt)
    submission = submit(attempt, function=answer(OTHERS), module="", key="other-1", now=now)
    finish(submission, Outcome.PASSED)
    submission.refresh_from_db()
    TestRow.objects.create(
        execution=submission.execution, number=1, test="test_with_tax", outcome=Outcome.PASSED, message=OUTPUT
    )
    answers = {
        "outcome": "solved",
        "difficulty": "trivial",
        "instruction_quality": 0,
        "test_quality": 0,
        "text": OTHERS_TEXT,
        "evidence": "",
    }
    settle(attempt, now=now)
    close_attempt(attempt, answers=answers, now=now)
    attempt.refresh_from_db()
    return attempt, submission


def client_of(world: World, kind: str) -> Client:
    """Return a browser signed in as that kind of person; a fault of the site answers 500 instead of raising."""
    client = Client(raise_request_exception=False)
    if person := world.person(kind):
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client
