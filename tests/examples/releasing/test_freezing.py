"""Freezing: through the gate, hashed, and unchangeable on both databases."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.messages import get_messages
from django.db import IntegrityError, connection, transaction
from django.test import Client

from annotation import evidence
from annotation.models import Adjudication, Attempt, Verdict
from examples.models import AuditEntry, Check, Release, ReleaseFile, ReleaseItem, Split
from examples.releasing import freezing
from examples.releasing.download import file_chunks, sums, tar_chunks
from examples.releasing.drafting import DraftRefused, discard, leave_out
from examples.releasing.facts import gate_report
from examples.releasing.freezing import GateClosed, freeze
from tests.factories import make_version


@pytest.fixture
def frozen(solved_versions, make_draft, curator) -> Release:
    return freeze(make_draft(), by=curator, people=evidence)


def text_of(release: Release, name: str) -> str:
    return b"".join(file_chunks(release.files.get(name=name))).decode()


def test_sha256sum_accepts_every_file_of_a_frozen_release(frozen, tmp_path):
    for file in frozen.files.all():
        (tmp_path / file.name).write_bytes(b"".join(file_chunks(file)))
    (tmp_path / "SHA256SUMS").write_text(sums(frozen.files.all()))
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")[:-1]) == sorted(f"{file.name}: OK" for file in frozen.files.all())


def test_the_tar_unpacks_to_the_same_files_and_its_sums_hold(frozen, tmp_path):
    (tmp_path / "all.tar").write_bytes(b"".join(tar_chunks(frozen, frozen.files.all())))
    subprocess.run(["tar", "-xf", "all.tar"], cwd=tmp_path, check=True)
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=tmp_path / "solved-1.0.0", check=True)


def test_the_manifest_tells_of_a_held_out_split_how_many_and_the_hash_of_its_file_only(frozen):
    text = text_of(frozen, "manifest.json")
    private = json.loads(text)["splits"]["private"]
    assert private["examples"] == frozen.items.filter(split__held_out=True).count() == 2
    assert private["sha256"] == hashlib.sha256(text_of(frozen, "private.jsonl").encode()).hexdigest()
    for item in frozen.items.filter(split__held_out=True).select_related("version__example"):
        for told in (f"{item.version.example.label}@", item.sha256, item.version.content_hash):
            assert told not in text


def test_each_line_is_sorted_json_with_canary_and_its_hash_is_in_the_manifest(frozen):
    manifest = json.loads(text_of(frozen, "manifest.json"))
    hashes = {each["id"]: each["sha256"] for each in manifest["examples"]}
    seen = 0
    for split in [each for each in manifest["splits"].values() if not each["held_out"]]:
        for line in text_of(frozen, split["file"]).splitlines(keepends=True):
            record = json.loads(line)
            assert (
                line == json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
            )
            assert record["canary"] == frozen.canary == manifest["canary"]
            assert hashes[record["id"]] == hashlib.sha256(line.encode()).hexdigest()
            seen += 1
    assert seen == len(hashes) == 6


def test_the_manifest_names_images_licences_checks_and_human_numbers(frozen):
    manifest = json.loads(text_of(frozen, "manifest.json"))
    assert list(manifest) == sorted(manifest)
    assert frozen.manifest_sha256 == hashlib.sha256(text_of(frozen, "manifest.json").encode()).hexdigest()
    assert manifest["licences"] == {"MIT": 8}
    assert manifest["checks"]["reference"] == {"passed": 8}
    assert [each["name"] for each in manifest["environments"].values()] == ["plain"]
    solved = manifest["human"]["all"][0]
    assert (solved["count"], solved["total"], solved["cluster"]) == (16, 16, None)
    assert solved["wilson"][0] == pytest.approx(0.806, abs=0.001)
    assert "16 of 16 closed attempts, 100 % (95 % Wilson 81 to 100" in text_of(frozen, "README.md")
    assert "| MIT | 8 |" in text_of(frozen, "LICENSES.md")


def test_text_beyond_ascii_stays_as_it_is(solved_versions, make_draft, curator, ann, ben):
    from tests.factories import make_attempt, make_study

    version = make_version("naïve", instruction="Größe 漢字 \u202e \U0001f600\r\n\tend")
    study = make_study("s-02", versions=[version], people=[ann], solvers=1)
    make_attempt(study, version, ann)
    release = freeze(make_draft(), by=curator, people=evidence)
    line = release.items.get(version=version).line
    assert "Größe 漢字" in line
    assert json.loads(line)["instruction"] == version.instruction


def test_freezing_again_or_changing_a_frozen_release_is_refused(frozen, curator):
    with pytest.raises(DraftRefused):
        freeze(frozen, by=curator, people=evidence)
    with pytest.raises(DraftRefused):
        leave_out(frozen, versions=[frozen.items.first().version_id], by=curator)
    with pytest.raises(DraftRefused):
        discard(frozen, by=curator)


def test_a_draft_that_changes_while_it_is_frozen_stays_a_draft(
    solved_versions, make_draft, curator, monkeypatch
):
    release = make_draft()
    honest = freezing._files

    def meddle(*arguments):
        made = honest(*arguments)
        leave_out(release, versions=[solved_versions[0].pk], by=curator)
        return made

    monkeypatch.setattr(freezing, "_files", meddle)
    with pytest.raises(DraftRefused, match="changed while"):
        freeze(release, by=curator, people=evidence)
    assert Release.objects.get().state == Release.State.DRAFT
    assert not ReleaseFile.objects.exists()


@pytest.mark.parametrize("second", ["writes lines", "has written them", "looks"])
def test_two_who_freeze_at_once_end_in_one_frozen_release_and_a_word_to_the_other(
    either_database, second, request, monkeypatch, client
):
    """The second is held up at some point, which both have reached, until the first is done."""
    request.getfixturevalue("solved_versions")
    draft = request.getfixturevalue("make_draft")()
    curator = request.getfixturevalue("curator")
    place = {"writes lines": "gate_report", "has written them": "_files", "looks": "must_grow"}[second]
    honest = getattr(freezing, place)
    there, first_done, come_by = threading.Barrier(2), threading.Event(), set()

    def held_up(*arguments):
        if place != "must_grow":
            found = honest(*arguments)
        if threading.get_ident() not in come_by:
            come_by.add(threading.get_ident())
            if there.wait(20) == 0:
                assert first_done.wait(20)
        return honest(*arguments) if place == "must_grow" else found

    monkeypatch.setattr(freezing, place, held_up)

    def press(_: int) -> tuple[int, str]:
        browser = Client(raise_request_exception=False)
        browser.force_login(curator, backend="django.contrib.auth.backends.ModelBackend")
        try:
            answer = browser.post(f"/releases/solved/{draft.number}/freeze/")
            first_done.set()
            return answer.status_code, "".join(str(each) for each in get_messages(answer.wsgi_request))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(press, range(2)))
    draft.refresh_from_db()
    assert draft.state == Release.State.FROZEN
    assert [status for status, _ in answers] == [302, 302]
    assert sorted(said for _, said in answers) == ["", "solved 1.0.0 is frozen already: somebody was faster."]
    assert sorted(file.name for file in draft.files.all())[0] == "LICENSES.md"
    assert AuditEntry.objects.filter(action="release frozen").count() == 1


def test_a_draft_that_somebody_discarded_is_gone_and_not_frozen(solved_versions, make_draft, curator):
    stale = make_draft()
    discard(Release.objects.get(pk=stale.pk), by=curator)
    with pytest.raises(DraftRefused, match="gone"):
        freeze(stale, by=curator, people=evidence)


def test_human_numbers_stay_as_they_were_at_the_freeze(frozen):
    before = text_of(frozen, "manifest.json")
    Verdict.objects.update(solved=False)
    assert text_of(frozen, "manifest.json") == before


CHANGES = {
    "update the release": lambda release: Release.objects.filter(pk=release.pk).update(notes="x"),
    "thaw the release": lambda release: Release.objects.filter(pk=release.pk).update(
        state="draft", frozen_at=None, manifest_sha256=""
    ),
    "delete the release": lambda release: Release.objects.filter(pk=release.pk).delete(),
    "update a line": lambda release: release.items.update(line="x"),
    "delete an item": lambda release: release.items.all()[:1].get().delete(),
    "open a held-out split": lambda release: release.splits.update(held_out=False),
    "add a split": lambda release: Split.objects.create(release=release, name="more", share=0),
    "rewrite a file": lambda release: release.files.filter(name="README.md").update(content="x"),
    "delete a file": lambda release: release.files.first().delete(),
    "add a file": lambda release: ReleaseFile.objects.create(
        release=release, name="x", size_bytes=0, sha256="0" * 64
    ),
}


def refuses(change, release: Release) -> bool:
    try:
        with transaction.atomic():
            change(release)
    except IntegrityError as error:
        return "never changes" in str(error)
    return False


@pytest.mark.parametrize("what", CHANGES)
def test_the_database_refuses_to(what, frozen):
    assert refuses(CHANGES[what], frozen)


def test_either_database_refuses_every_change(either_database, request):
    release = request.getfixturevalue("frozen")
    assert {what: refuses(change, release) for what, change in CHANGES.items()} == dict.fromkeys(
        CHANGES, True
    )


def test_a_draft_beside_a_frozen_release_can_change(frozen, make_draft, curator):
    draft = make_draft("1.1.0")
    ReleaseItem.objects.filter(release=draft).update(line="x")
    moved = ReleaseItem.objects.filter(release=draft)[:1].get()
    assert refuses(
        lambda _: ReleaseItem.objects.filter(pk=moved.pk).update(release=frozen, position=99), frozen
    )
    discard(draft, by=curator)


BLOCKS = {
    "reference": lambda version: Check.objects.filter(version=version, name="reference").update(
        state="failed"
    ),
    "empty_body": lambda version: Check.objects.filter(version=version, name="empty_body").delete(),
    "tests_ran": lambda version: Check.objects.filter(version=version, name="tests_ran").update(
        state="failed"
    ),
    "stable": lambda version: Check.objects.filter(version=version, name="stable").update(state="failed"),
    "network": lambda version: Check.objects.filter(version=version, name="network").update(state="unjudged"),
    "environment": lambda version: type(version.environment).objects.update(image_digest="sha256:new"),
    "licence": lambda version: type(version.example.dataset).objects.update(licence=""),
    "solvers": lambda version: Attempt.objects.filter(
        slot__version=version, annotator__username="ben"
    ).update(state="released"),
    "solved": lambda version: Verdict.objects.filter(attempt__slot__version=version).update(solved=False),
    "dispute": lambda version: Verdict.objects.filter(attempt__slot__version=version).update(test_quality=2),
    "in_use": lambda version: (
        type(version.example)
        .objects.filter(pk=version.example_id)
        .update(status="retired", status_reason="a duplicate")
    ),
}


@pytest.mark.parametrize("slug", BLOCKS)
def test_a_release_is_not_frozen_while_a_condition_blocks(slug, solved_versions, make_draft, curator):
    release = make_draft()
    BLOCKS[slug](solved_versions[0])
    with pytest.raises(GateClosed) as closed:
        freeze(release, by=curator, people=evidence)
    assert [line.condition.slug for line in closed.value.report.closed] == [slug]
    release.refresh_from_db()
    assert release.state == Release.State.DRAFT


def test_leaving_the_blocked_version_out_opens_the_gate(solved_versions, make_draft, curator):
    release = make_draft()
    BLOCKS["dispute"](solved_versions[0])
    report = gate_report(release, evidence)
    leave_out(release, versions=report.blocked_ids, by=curator)
    assert freeze(release, by=curator, people=evidence).items.count() == 7


def test_a_severe_instruction_blocks_until_a_later_decision(solved_versions, make_draft, curator):
    release = make_draft()
    Verdict.objects.filter(attempt__slot__version=solved_versions[0]).update(instruction_quality=3)
    assert [line.condition.slug for line in gate_report(release, evidence).closed] == ["dispute"]
    Adjudication.objects.create(
        version=solved_versions[0], decision="solvable", reason="clear after all", decided_by=curator
    )
    assert gate_report(release, evidence).is_open


def test_people_who_wrote_it_or_knew_it_are_not_independent(solved_versions, make_draft, ann):
    version = solved_versions[0]
    type(version).objects.filter(pk=version.pk).update(author=ann)
    Verdict.objects.filter(attempt__slot__version=version, attempt__annotator__username="ben").update(
        outcome="knew_it"
    )
    assert [line.condition.slug for line in gate_report(make_draft(), evidence).closed] == ["solved"]


def test_the_gate_takes_the_same_number_of_queries_for_any_number_of_versions(
    solved_versions, make_draft, django_assert_num_queries
):
    release = make_draft()
    with django_assert_num_queries(11):
        gate_report(release, evidence)
    release.items.exclude(version=solved_versions[0]).delete()
    with django_assert_num_queries(11):
        gate_report(release, evidence)
