"""Three people solve two flawed examples in real boxes; the report finds the flaws, a fix is tried and accepted.

Ten examples, with all four flaws, go through in tests/benchmarks/check_study.py.
"""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation import evidence
from annotation.cases import Kind, queue
from annotation.casework import fix_page
from annotation.flips import Flip
from annotation.models import Adjudication, CarriedVerdict, Fix, User
from examples.checking.run import check_version
from examples.editing import edit_of
from examples.models import Alternative, Version
from examples.releasing.facts import facts_of
from runner import boxes
from runner.environments.recipe import BuildFailed, recipes
from runner.provisioning import provision
from runner.sandbox.containers import ColdSandbox
from tests import judged_study as steps
from tests.three_solvers import in_any_order

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300), pytest.mark.django_db(transaction=True)]
KEYS = ("group_anagrams", "median_price")


@pytest.fixture
def built(transactional_db: None, monkeypatch: pytest.MonkeyPatch):
    """The plain environment, and a sandbox of cold boxes for this process."""
    try:
        provision(recipes()["plain"], progress=print)
    except BuildFailed as reason:
        pytest.skip(f"no Docker engine, or no image: {reason}")
    cold = ColdSandbox(boxes.engine())
    monkeypatch.setattr(boxes, "sandbox", lambda: cold)
    yield
    cold.close()


def test_flaws_are_found_fixed_and_decided_on_from_invitation_to_the_gate(built, curator: User):
    versions = steps.import_examples(KEYS)
    steps.check(versions, at_once=1)
    study = steps.open_a_study(versions, by=curator)
    page = steps.signed_in(curator)
    people = [steps.invited(page, number, study) for number in range(3)]
    steps.now_open(study, by=curator)
    for number, (person, client) in enumerate(people):
        steps.solve_all(client, person, study, number, at_once=1)

    # Who judges sees why each is in the queue; the report knows no values before anything is executed for it.
    kinds = {each.version.example.key: each.kinds for each in queue(curator).cases}
    assert set(kinds) == set(KEYS)
    assert Kind.EXECUTION in kinds["median_price"]
    assert "wrong_reference" not in steps.findings(study, "median_price")
    steps.sent(page, reverse("fairness_execute", args=[study.name]), {"times": "1"})
    steps.work_off(at_once=1)
    wrong = steps.findings(study, "median_price")["wrong_reference"]
    assert wrong.evidence["answers"][0]["values"] == ["300.0", "250"]
    assert len(wrong.people) == 3
    strict = steps.findings(study, "group_anagrams")
    assert "in its order alone" in strict["over_strict"].sentence
    assert "wrong_reference" not in strict

    # A solution is judged right and kept; then the matrix says it by a curator's word.
    groups = versions["group_anagrams"]
    sha256 = steps.written_by(groups, 0).sha256
    said = {"sha256": sha256, "right": "right", "keep": "on", "reason": "Any order is allowed."}
    steps.sent(page, reverse("assess_solution", args=[groups.pk]), said)
    assert "judged right" in steps.findings(study, "group_anagrams")["over_strict"].sentence

    # The fix lets both pass that were rejected, and takes nothing from the third.
    tests = in_any_order(edit_of(groups).tests)
    fix = steps.try_fix(page, groups, "Any order is allowed.", tests=tests)
    steps.work_off(at_once=1)
    tried = fix_page(fix)
    assert (tried.tally[Flip.PASSES], tried.tally[Flip.SAME], tried.flips) == (2, 1, 2)
    assert "2" in page.get(reverse("fix", args=[fix.pk])).content.decode()
    steps.sent(
        page, reverse("fix_accept", args=[fix.pk]), {"severity": "2", "reason": "The instruction says so."}
    )
    made = Fix.objects.get(pk=fix.pk).made
    assert made is not None
    assert CarriedVerdict.objects.filter(version=made, solved=True).count() == 3

    # The new version is checked, and held to the alternative before a release may have it.
    assert check_version(made.pk) == Version.CheckState.PASSED
    steps.work_off(at_once=1)
    assert Alternative.objects.get().sha256 == sha256
    assert [each.passed for each in facts_of(Version.objects.filter(pk=made.pk))[0].alternatives] == [True]
    assert [each.passed for each in facts_of(Version.objects.filter(pk=groups.pk))[0].alternatives] == [False]
    told = evidence.evidence(Version.objects.filter(pk=made.pk))[made.pk]
    assert (told.independent, told.studies[0].closed, told.disputes) == (3, 3, ())

    # The other is decided on with its reason, and then nothing waits any more.
    decision = {"decision": "repair", "severity": "3", "reason": "The reference takes the lower of the two."}
    steps.sent(page, reverse("adjudicate", args=[versions["median_price"].pk]), decision)
    assert queue(curator).total == 0
    assert Adjudication.objects.count() == 2
