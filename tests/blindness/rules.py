"""Who may use which route, and how its arguments are built: one rule for each route, none left out.

A rule of the table names the kinds of people whom the route serves, of

    anonymous   nobody signed in
    owner       the annotator whose open attempt it is
    other       an annotator of the same study, whose own attempt is closed
    stranger    an annotator who takes part in no study
    curator, reader, admin

and how to build the route's arguments and a form for it. `EVERYBODY` and `NOBODY` are meant literally. Those named get
an answer below 400 (405 where the route takes the other method only); everybody else gets the sign-in page or 401,
403 or 404. Nobody but curator and admin is sent a mark of tests/blindness/world.py that is not theirs. `HELD_OUT` names
the routes that lead to a held-out split when they are asked for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.blindness.routes import Route
from tests.blindness.world import World

EVERYBODY = frozenset({"anonymous", "owner", "other", "stranger", "curator", "reader", "admin"})
SIGNED_IN = EVERYBODY - {"anonymous"}
CURATES = frozenset({"curator", "admin"})
READS = CURATES | {"reader"}
ADMIN = frozenset({"admin"})
OWNER = frozenset({"owner"})
PARTICIPANTS = frozenset({"owner", "other"})
ANNOTATORS = PARTICIPANTS | {"stranger"}
NOBODY: frozenset[str] = frozenset()

Arguments = Callable[[World], dict[str, Any]]


def _none(_: World) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Rule:
    """Whom a route serves, its arguments, and the form that is sent to it."""

    who: frozenset[str]
    arguments: Arguments = _none
    form: Arguments = field(default=_none)


def _study(world: World) -> dict[str, Any]:
    return {"name": world.study.name}


def _slot(world: World) -> dict[str, Any]:
    return {"name": world.study.name, "pk": world.attempt.slot_id}


def _broken(world: World) -> dict[str, Any]:
    return {**_study(world), "pk": world.study.broken_reports.get().pk}


def _member(world: World) -> dict[str, Any]:
    return {"name": world.study.name, "pk": world.other.pk}


def _person(world: World) -> dict[str, Any]:
    return {"pk": world.other.pk}


def _attempt(world: World) -> dict[str, Any]:
    return {"pk": world.attempt.pk}


def _example(world: World) -> dict[str, Any]:
    return {"pk": world.version.example_id}


def _case(world: World) -> dict[str, Any]:
    return {"version": world.version.pk}


def _fix(world: World) -> dict[str, Any]:
    return {"pk": world.fix.pk}


def _dataset(world: World) -> dict[str, Any]:
    return {"name": world.version.example.dataset.name}


def _environment(world: World) -> dict[str, Any]:
    return {"name": world.version.environment.name}


def _report(world: World) -> dict[str, Any]:
    return {"pk": world.report.pk}


def _draft(world: World) -> dict[str, Any]:
    return {"name": world.draft.name, "number": world.draft.number}


def _evaluation(world: World) -> dict[str, Any]:
    return {"name": world.sample.item.evaluation.name}


def _run(world: World) -> dict[str, Any]:
    return {"name": world.fragment.run.name}


def _fragment(world: World) -> dict[str, Any]:
    return {**_run(world), "number": world.fragment.number}


def _release(world: World) -> dict[str, Any]:
    return {"name": world.frozen.name, "number": world.frozen.number}


def _file_of(name: str) -> Arguments:
    return lambda world: {**_release(world), "file": name}


def _code(key: str, **more: str) -> Arguments:
    return lambda _: {"function": "def with_tax(net):\n    return net\n", "module": "", "key": key, **more}


# By the name of the route.
RULES: dict[str, Rule] = {
    # Everybody's
    "home": Rule(EVERYBODY),
    "about": Rule(EVERYBODY),
    "healthz": Rule(EVERYBODY),
    "join": Rule(EVERYBODY, lambda world: {"token": world.invitation.token}),
    "account": Rule(SIGNED_IN),
    "sign_up": Rule(NOBODY),  # switched off, as it is by default
    # The annotator's own work
    "work": Rule(ANNOTATORS),
    "next_example": Rule(PARTICIPANTS, _study),
    "guidelines": Rule(PARTICIPANTS, _study),
    "own_page": Rule(ANNOTATORS),
    "onboarding": Rule(PARTICIPANTS, _study),
    "leave_study": Rule(PARTICIPANTS, _study),
    "feedback": Rule(NOBODY, _attempt),  # of a gold example of the qualification alone
    "workspace": Rule(OWNER, _attempt),
    "execution": Rule(OWNER, _attempt),
    "run_changes": Rule(OWNER, _attempt),
    "draft": Rule(OWNER, _attempt, _code("", base_revision="1")),
    "run": Rule(OWNER, _attempt, _code("b-1")),
    "scratch": Rule(OWNER, _attempt, _code("b-2", snippet="print(with_tax(1))")),
    "submit": Rule(OWNER, _attempt, _code("b-3")),
    "give_up": Rule(OWNER, _attempt, lambda _: {"reason": "no idea"}),
    "defer": Rule(OWNER, _attempt, lambda _: {"reason": "later"}),
    "decline": Rule(OWNER, _attempt, lambda _: {"reason": "not for me"}),
    "report_broken": Rule(OWNER, _attempt, lambda _: {"what": "tests", "evidence": "they contradict"}),
    "take_up": Rule(OWNER, _attempt),
    "beat": Rule(OWNER, _attempt, lambda _: {"tab": "t", "visible": "true", "ms_since_input": "10"}),
    "paste": Rule(
        OWNER,
        _attempt,
        lambda _: {"key": "p", "editor": "function", "origin": "elsewhere", "characters": "9", "lines": "1"},
    ),
    "pause": Rule(OWNER, _attempt),
    "resume": Rule(OWNER, _attempt),
    "verdict": Rule(OWNER, _attempt),
    "verdict_draft": Rule(OWNER, _attempt, lambda _: {"text": "so far"}),
    # Closed, in a study that shows the reference: but its annotator still works on the example in another one.
    "second_judgement": Rule(NOBODY, lambda world: {"pk": world.revealing.pk}),
    # Accounts
    "people": Rule(ADMIN),
    "person_new": Rule(ADMIN),
    "person_role": Rule(ADMIN, _person),
    "person_active": Rule(ADMIN, _person),
    "person_reset": Rule(ADMIN, _person),
    "invitations": Rule(CURATES),
    "sign_up_answer": Rule(CURATES, lambda world: {"pk": world.asked.pk}),
    "invitation_withdraw": Rule(CURATES, lambda world: {"pk": world.invitation.invitation.pk}),
    # Studies
    "studies": Rule(CURATES),
    "study_new": Rule(CURATES),
    "calculator": Rule(CURATES),
    "study_protocol": Rule(CURATES, _study),
    "protocol_change": Rule(CURATES, _study),
    "protocol_force": Rule(CURATES, _study),
    "protocol_drop": Rule(CURATES, _study),
    "study": Rule(CURATES, _study),
    "study_edit": Rule(CURATES, _study),
    "study_state": Rule(CURATES, _study),
    "study_solvers": Rule(CURATES, _study),
    "study_versions": Rule(CURATES, _study),
    "study_version_out": Rule(CURATES, lambda world: {**_study(world), "pk": world.version.pk}),
    "study_people": Rule(CURATES, _study),
    "study_person_out": Rule(CURATES, _member),
    "slot_release": Rule(CURATES, _slot),
    "study_queue": Rule(CURATES, _study),
    "report_decide": Rule(CURATES, _broken, lambda _: {"decision": "go_on", "reason": "it is whole"}),
    "report_replace": Rule(CURATES, _broken),
    "gold_mark": Rule(CURATES, _study),
    "gold_unmark": Rule(CURATES, lambda world: {**_study(world), "pk": world.study.gold_items.get().pk}),
    "person_admit": Rule(CURATES, _member, lambda _: {"reason": "known"}),
    "person_cap": Rule(CURATES, _member, lambda _: {"cap": "3"}),
    "person_withdraw": Rule(CURATES, _member),
    "study_results": Rule(CURATES, _study),
    "study_codebook": Rule(CURATES, _study),
    "study_attempts": Rule(CURATES, _study),
    "replay": Rule(CURATES, lambda world: {"pk": world.others_attempt.pk}),
    "replay_events": Rule(CURATES, lambda world: {"pk": world.others_attempt.pk}),
    "verdict_reopen": Rule(
        CURATES, lambda world: {"pk": world.others_attempt.pk}, lambda _: {"reason": "Say which test."}
    ),
    "study_export": Rule(CURATES, lambda world: {**_study(world), "table": "attempts", "style": "jsonl"}),
    "adjudication": Rule(CURATES),
    "rule_on": Rule(CURATES, lambda world: {"run": world.submission.pk}),
    "adjudicate": Rule(CURATES, _case),
    "second_reader": Rule(CURATES, _case),
    "assess_solution": Rule(CURATES, _case),
    "execute_solutions": Rule(CURATES, _case),
    "alternative_withdraw": Rule(CURATES, lambda world: {**_case(world), "pk": world.alternative.pk}),
    "fix_new": Rule(CURATES, _case),
    "fix": Rule(CURATES, _fix),
    "fix_execute": Rule(CURATES, _fix),
    "fix_accept": Rule(CURATES, _fix),
    "fix_discard": Rule(CURATES, _fix),
    "study_fairness": Rule(CURATES, _study),
    "fairness_execute": Rule(CURATES, _study),
    "fairness_export": Rule(CURATES, lambda world: {**_study(world), "table": "findings", "style": "jsonl"}),
    # Examples
    "examples": Rule(CURATES),
    "examples_progress": Rule(CURATES),
    "examples_act": Rule(CURATES),
    "duplicates": Rule(CURATES),
    "imports": Rule(CURATES),
    "import_report": Rule(CURATES, _report),
    "import_problems": Rule(CURATES, lambda world: {**_report(world), "form": "csv"}),
    "datasets": Rule(CURATES),
    "dataset": Rule(CURATES, _dataset),
    "dataset_export": Rule(CURATES, lambda world: {**_dataset(world), "style": "benchwright"}),
    "environments": Rule(CURATES),
    "environment_new": Rule(CURATES),
    "suites": Rule(CURATES),
    "environments_remove": Rule(CURATES),
    "environment": Rule(CURATES, _environment),
    "environment_build": Rule(CURATES, _environment),
    "example_rerun": Rule(CURATES, _example),
    "check_execution": Rule(CURATES, lambda world: {"pk": world.check_execution.pk}),
    "example": Rule(CURATES, _example),
    "example_content": Rule(CURATES, _example),
    "example_versions": Rule(CURATES, _example),
    "example_verdicts": Rule(CURATES, _example),
    "example_provenance": Rule(CURATES, _example),
    "propose_version": Rule(CURATES, _example),
    "run_checks": Rule(CURATES, _example),
    "repeat_reference": Rule(CURATES, _example),
    "accept_example": Rule(CURATES, _example),
    "retire_example": Rule(CURATES, _example),
    "set_licence": Rule(CURATES, _example),
    "kit": Rule(CURATES),
    "operations": Rule(CURATES),
    "try_again": Rule(CURATES, lambda world: {"pk": world.check_execution.pk}),
    # Django's admin lets anybody sign out; its sign-in leads to ours.
    "admin:logout": Rule(EVERYBODY),
    # Generation: fragments and rounds hold references and hidden tests, so they are the curators'
    "generation": Rule(CURATES),
    "generation_new": Rule(CURATES),
    "generation_yields": Rule(CURATES),
    "generation_run": Rule(CURATES, _run),
    "generation_fragments": Rule(CURATES, _run),
    "generation_yield": Rule(CURATES, lambda world: {**_run(world), "style": "json"}),
    "generation_state": Rule(CURATES, _run, lambda _: {"action": "resume"}),
    "fragment": Rule(CURATES, _fragment),
    "fragment_edit": Rule(CURATES, lambda world: {**_fragment(world), "subject": "program"}),
    "fragment_accept": Rule(CURATES, _fragment),
    "fragment_reject": Rule(CURATES, _fragment, lambda _: {"reason": "too plain"}),
    "fragment_again": Rule(CURATES, _fragment),
    "package_wish": Rule(
        CURATES, lambda world: {"pk": world.fragment.wishes.get().pk}, lambda _: {"action": "refuse"}
    ),
    # Models: their samples are solutions, so they are the curators'; figures over what readers may download are theirs too
    "evaluations": Rule(CURATES),
    "evaluation_grid": Rule(CURATES),
    "evaluation_new": Rule(CURATES),
    "evaluation": Rule(CURATES, _evaluation),
    "evaluation_score": Rule(CURATES, _evaluation),
    "evaluation_samples": Rule(CURATES, _evaluation),
    "model_sample": Rule(CURATES, lambda world: {"pk": world.sample.pk}),
    "leaderboard": Rule(READS),
    "leaderboard_file": Rule(READS, lambda _: {"style": "json"}),
    # Releases
    "releases": Rule(READS),
    "release_new": Rule(CURATES),
    "release": Rule(READS, _release),
    "release_freeze": Rule(CURATES, _draft),
    "release_leave_out": Rule(CURATES, _draft),
    "release_discard": Rule(CURATES, _draft),
    "release_file": Rule(READS, _file_of("test.jsonl")),
    "release_tar": Rule(READS, _release),
    "tokens": Rule(READS),
    # Somebody else's token is left as it is, and the answer is the same: the way back to one's own.
    "token_revoke": Rule(READS, lambda world: {"key": world.token_key}),
    # The API
    "schema": Rule(EVERYBODY),
    "api_docs": Rule(EVERYBODY),
    "v1:dataset-list": Rule(CURATES),
    "v1:dataset-detail": Rule(CURATES, _dataset),
    "v1:dataset-export": Rule(CURATES, _dataset),
    "v1:example-list": Rule(CURATES),
    "v1:example-detail": Rule(CURATES, _example),
    "v1:operations": Rule(CURATES),
    "v1:evaluation-list": Rule(READS),
    "v1:evaluation-detail": Rule(READS, _evaluation),
    "v1:evaluation-figures": Rule(READS, _evaluation),
    "v1:leaderboard-list": Rule(READS),
    "v1:study-list": Rule(CURATES),
    "v1:study-detail": Rule(CURATES, _study),
    "v1:study-results": Rule(CURATES, _study),
    "v1:study-fairness": Rule(CURATES, _study),
    "v1:release-list": Rule(READS),
    "v1:release-number-list": Rule(READS, lambda world: {"name": world.frozen.name}),
    "v1:release-number-detail": Rule(READS, _release),
    "v1:release-number-files": Rule(READS, _file_of("test.jsonl")),
    "v1:release-number-manifest": Rule(READS, _release),
    "v1:release-number-sums": Rule(READS, _release),
    "v1:split-list": Rule(READS, _release),
    "v1:split-detail": Rule(READS, lambda world: {**_release(world), "split": "test"}),
}

# By the name of the route: arguments that lead to what is held out of a frozen release, which curators may have.
HELD_OUT: dict[str, Arguments] = {
    "release_file": _file_of("kept.jsonl"),
    "v1:release-number-files": _file_of("kept.jsonl"),
    "v1:split-detail": lambda world: {**_release(world), "split": "kept"},
    "v1:evaluation-detail": lambda world: {"name": world.kept_sample.item.evaluation.name},
    "v1:evaluation-figures": lambda world: {"name": world.kept_sample.item.evaluation.name},
}

# Django's admin and allauth, whose routes are theirs to name: whoever is not served gets the sign-in page or 404, and
# nobody is sent a mark.
LIBRARY_ROUTES = {
    "admin/": ADMIN,
    "accounts/": EVERYBODY,
}

# By the pattern of the websocket route: who is admitted, and its arguments.
SOCKET_RULES: dict[str, Rule] = {
    "ws/attempts/<int:pk>/": Rule(OWNER, _attempt),
}


def rule_for(route: Route) -> Rule | None:
    """Return the rule of a route, None when it has none."""
    if route.name in RULES:
        return RULES[route.name]
    starts = (Rule(who) for start, who in LIBRARY_ROUTES.items() if route.pattern.startswith(start))
    return next(starts, None)


def is_of_a_library(route: Route) -> bool:
    """Return whether the route is ruled by the start of its pattern only."""
    return route.name not in RULES
