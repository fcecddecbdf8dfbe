"""A study of three annotators over ten demo examples, from invitation to decisions; the four flaws are found and shown.

    python -m tests.benchmarks.check_study

Invitations, solving, verdicts, judging, a fix and decisions go through the pages; everything is executed in real boxes.
Prints what the report says of each flawed example with its evidence, who flips by a fix, and what was decided; exit 1
where a flaw is missed, one is seen where none is, or a step fails.
"""

from __future__ import annotations

import sys
import time

from tests.benchmarks.figures import machine
from tests.benchmarks.prepared import AT_ONCE, database, prepare, provide_environments

REPEATS = 20
missed: list[str] = []


def note(what: str, holds: bool) -> None:
    """Print whether it holds and remember what does not."""
    print(f"-- {what}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
    if not holds:
        missed.append(what)


def main() -> int:
    """Go through the study; return the exit status."""
    prepare()
    from django.test.utils import setup_test_environment
    from django.urls import reverse

    from annotation.accounts import create_account
    from annotation.cases import queue
    from annotation.casework import fix_page
    from annotation.evidence import evidence
    from annotation.fairness.report import report
    from annotation.flips import Flip
    from annotation.models import Adjudication, Attempt, CarriedVerdict, Fix, Run
    from config.access import Role
    from examples.checking.run import check_version
    from examples.editing import edit_of
    from examples.models import Version
    from examples.releasing.facts import facts_of
    from runner.models import Execution
    from tests import judged_study as steps
    from tests.three_solvers import ANSWERS, FLAWED, in_any_order

    setup_test_environment()
    print(f"{database()}; {machine()}")
    provide_environments()
    began = time.monotonic()
    curator = create_account(username="curator", role=Role.CURATOR, password=None)
    versions = steps.import_examples(tuple(ANSWERS))
    steps.check(versions, at_once=AT_ONCE)
    print(f"{len(versions)} examples checked after {time.monotonic() - began:.0f} s", flush=True)

    study = steps.open_a_study(versions, by=curator)
    page = steps.signed_in(curator)
    people = [steps.invited(page, number, study) for number in range(3)]
    steps.now_open(study, by=curator)
    for number, (person, client) in enumerate(people):
        steps.solve_all(client, person, study, number, at_once=AT_ONCE)
    closed = Attempt.objects.filter(slot__study=study, state=Attempt.State.CLOSED).count()
    note(f"{closed} of {3 * len(versions)} attempts closed by 3 people", closed == 3 * len(versions))
    print(f"{Run.objects.count()} submissions; {time.monotonic() - began:.0f} s", flush=True)

    flaky = versions[steps.FLAKE]
    steps.sent(page, reverse("fairness_execute", args=[study.name]), {"times": "1"})
    steps.sent(page, reverse("repeat_reference", args=[flaky.example_id]), {"times": REPEATS})
    done = steps.work_off(at_once=AT_ONCE)
    print(f"{done} executions and {REPEATS} repeats asked for; {time.monotonic() - began:.0f} s", flush=True)

    for key, version in versions.items():
        found = steps.findings(study, key)
        wanted = FLAWED.get(key, "")
        if wanted:
            note(f"{version.example.label} {key}: {wanted}", wanted in found)
        others = {"over_strict", "wrong_reference", "underspecified", "flaky"} - {wanted}
        note(f"{version.example.label} {key}: no other of the four", not others & found.keys())
        for flaw, finding in found.items():
            print(f"   {flaw}: {finding.sentence} (executions {', '.join(map(str, finding.executions[:6]))})")
    shown = page.get(reverse("study_fairness", args=[study.name]))
    text = shown.content.decode()
    sentences = [finding.sentence for key in FLAWED for finding in steps.findings(study, key).values()]
    note(f"the page shows all {len(sentences)} of them", text.count('class="title"') >= len(sentences))
    undefined = sum(bool(each.undefined) for one in report(study).versions for each in one.answers)
    print(f"   {undefined} questions are undefined and say why")

    groups, median = versions["group_anagrams"], versions["median_price"]
    sha256 = steps.written_by(groups, 0).sha256
    said = {"sha256": sha256, "right": "right", "keep": "on", "reason": "Any order is allowed."}
    steps.sent(page, reverse("assess_solution", args=[groups.pk]), said)
    tests = in_any_order(edit_of(groups).tests)
    fix = steps.try_fix(page, groups, "Any order is allowed.", tests=tests)
    steps.work_off(at_once=AT_ONCE)
    tried = fix_page(fix)
    for line in tried.lines:
        was, now = line.line.before, line.line.after
        print(
            f"   {line.name:10} {', '.join(line.people):6} {was.outcome if was else '':8} -> "
            f"{now.outcome if now else '':8} {line.line.flip}"
        )
    note(
        "two pass by the fix, nobody fails by it",
        (tried.tally[Flip.PASSES], tried.tally[Flip.FAILS]) == (2, 0),
    )
    accept = {"severity": "2", "reason": "The instruction allows any order."}
    steps.sent(page, reverse("fix_accept", args=[fix.pk]), accept)
    made = Fix.objects.get(pk=fix.pk).made
    assert made is not None
    carried = CarriedVerdict.objects.filter(version=made, solved=True).count()
    note(f"{carried} verdicts are carried to version {made.number}", carried == 3)
    note("the new version passes its checks", check_version(made.pk) == Version.CheckState.PASSED)
    steps.work_off(at_once=AT_ONCE)
    kept = facts_of(Version.objects.filter(pk=made.pk))[0].alternatives
    note("it lets the accepted alternative pass", [each.passed for each in kept] == [True])

    for key, decision, severity, reason in (
        ("median_price", "repair", 3, "The reference takes the lower of the two in the middle."),
        ("short_name", "repair", 2, "It does not say what is printed in capitals."),
        (steps.FLAKE, "retire", 3, "Four draws of five people need not differ."),
    ):
        form = {"decision": decision, "severity": severity, "reason": reason}
        steps.sent(page, reverse("adjudicate", args=[versions[key].pk]), form)
    for each in Adjudication.objects.order_by("pk"):
        print(f"   {each.version}: {each.get_decision_display()}, severity {each.severity}: {each.reason}")
    waiting = [case.version.example.key for case in queue(curator).cases]
    note(f"nothing waits for a decision any more {waiting}", not waiting)
    told = evidence(Version.objects.filter(pk=made.pk))[made.pk]
    note(
        "the gate has nothing against the new version by people", told.independent == 3 and not told.disputes
    )
    decided = evidence(Version.objects.filter(pk=median.pk))[median.pk].decision
    note(f"and has it against what is to be repaired: {decided}", decided == "needs a new version")
    unjudged = Execution.objects.filter(state=Execution.State.UNJUDGED).count()
    note(f"{Execution.objects.count()} executions, {unjudged} unjudged", unjudged == 0)
    print(f"{time.monotonic() - began:.0f} s in all")
    print("\nEverything holds." if not missed else "\nDoes not hold: " + "; ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    status = main()
    from runner import boxes

    boxes.close()
    sys.exit(status)
