"""Curating: accept and retire alone and in bulk, licences, repeats, and an edit that becomes a new version."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import User
from examples import tasks
from examples.browsing import Filters, matching, tabs
from examples.checking.repeating import due_repeats, run_repeats
from examples.curating import (
    NotAccepted,
    ReasonMissing,
    RepeatsOpen,
    accept,
    accept_all,
    ask_repeats,
    check_all,
    edit_dataset,
    retire,
    retire_all,
    set_licence,
)
from examples.editing import EditInvalid, edit_of, indentation_of, prepare
from examples.importing.base import content_hash, segments_as_json
from examples.importing.exec_csn import parse
from examples.jobs import segments_of
from examples.masking import with_tests
from examples.models import AuditEntry, Check, Example, Version
from examples.proposing import NothingChanged, Overtaken, propose_version
from tests.examples.published import exec_csn
from tests.factories import make_attempt, make_checks, make_environment, make_study, make_version

State = Version.CheckState
Status = Example.Status


def candidate(key: str = "add", **fields: object) -> Version:
    """Return a checked version whose example nobody accepted yet."""
    version = make_version(key, **fields)
    Example.objects.filter(pk=version.example_id).update(status=Status.CANDIDATE)
    return version


def failed(key: str, **checks: str) -> Version:
    """Return a candidate's version that failed the named checks."""
    version = candidate(key, checked=False)
    make_checks(version, **checks)
    names = [name for name in ("reference", "stable", "licence") if name in checks]
    Version.objects.filter(pk=version.pk).update(check_state=State.FAILED, failed_checks=",".join(names))
    version.refresh_from_db()
    return version


def actions() -> list[str]:
    """Return what the audit table holds, oldest first."""
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


class TestAccept:
    def test_what_passed_its_checks_is_accepted_with_a_row_in_the_audit(self, curator: User) -> None:
        example = candidate().example
        accept(example, by=curator)
        example.refresh_from_db()
        assert example.status == Status.ACCEPTED
        entry = AuditEntry.objects.get()
        assert (entry.person, entry.action, entry.subject) == (
            curator,
            "example accepted",
            f"example:{example.pk}",
        )

    def test_what_failed_is_not_and_the_refusal_names_the_checks(self, curator: User) -> None:
        example = failed("bad", reference="no", stable="flaky").example
        with pytest.raises(NotAccepted, match=r"Reference passes, Same every time"):
            accept(example, by=curator)
        example.refresh_from_db()
        assert example.status == Status.CANDIDATE
        assert actions() == []

    @pytest.mark.parametrize(
        ("state", "said"),
        [(State.PENDING, "not run yet"), (State.RUNNING, "running"), (State.UNJUDGED, "judged")],
    )
    def test_what_is_not_checked_to_the_end_is_not(self, state: str, said: str, curator: User) -> None:
        version = candidate()
        Version.objects.filter(pk=version.pk).update(check_state=state)
        with pytest.raises(NotAccepted, match=said):
            accept(version.example, by=curator)

    def test_in_bulk_those_that_may_are_accepted_and_the_others_counted_by_reason(
        self, curator: User
    ) -> None:
        good = [candidate("a"), candidate("b")]
        bad = [failed("c", reference="no"), failed("d", reference="no"), candidate("e", checked=False)]
        done = accept_all([version.example_id for version in [*good, *bad]], by=curator)
        assert done.changed == 2
        assert done.refused == {"its checks failed (Reference passes)": 2, "its checks have not run yet": 1}
        assert Example.objects.filter(status=Status.ACCEPTED).count() == 2
        assert actions() == ["example accepted"] * 2


class TestRetire:
    def test_a_reason_is_needed(self, curator: User) -> None:
        example = candidate().example
        with pytest.raises(ReasonMissing):
            retire(example, reason="  ", by=curator)
        example.refresh_from_db()
        assert example.status == Status.CANDIDATE

    def test_a_retired_example_stays_out_of_studies_until_it_is_accepted_again(self, curator: User) -> None:
        example = candidate().example
        retire(example, reason="Copied from a textbook.", by=curator)
        assert not Example.objects.usable().exists()
        accept(example, by=curator)
        example.refresh_from_db()
        assert (example.status, example.status_reason) == (Status.ACCEPTED, "")
        assert actions() == ["example retired", "example accepted"]

    def test_in_bulk_what_was_retired_before_keeps_its_reason(self, curator: User) -> None:
        first, second = candidate("a").example, candidate("b").example
        retire(first, reason="Old.", by=curator)
        done = retire_all([first.pk, second.pk], reason="New.", by=curator)
        first.refresh_from_db()
        assert (done.changed, first.status_reason) == (1, "Old.")


class TestChecksAgain:
    def test_the_current_versions_wait_for_a_worker_and_one_under_way_is_left_alone(
        self, curator: User
    ) -> None:
        idle, busy = candidate("a"), candidate("b")
        Version.objects.filter(pk=busy.pk).update(check_state=State.RUNNING, check_claim="x")
        done = check_all([idle.example_id, busy.example_id], by=curator)
        idle.refresh_from_db()
        busy.refresh_from_db()
        assert (done.changed, idle.check_state, busy.check_state) == (1, State.PENDING, State.RUNNING)

    @pytest.mark.parametrize("times", [0, -1, 501])
    def test_repeats_are_bounded(self, times: int, curator: User) -> None:
        with pytest.raises(ValueError, match="1 to 500"):
            ask_repeats(candidate(), times=times, by=curator)

    def test_repeats_reach_a_worker_when_the_transaction_commits(
        self, curator: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
    ) -> None:
        asked: list[int] = []
        monkeypatch.setattr(
            "examples.tasks.repeat.apply_async", lambda arguments, _named, **_how: asked.append(*arguments)
        )
        version = make_version()
        with django_capture_on_commit_callbacks(execute=True):
            ask_repeats(version, times=90, by=curator)
        assert asked == [version.repeats.get(times=90).pk]
        assert actions() == ["repeats asked for"]

    def test_repeats_whose_message_was_lost_are_found_by_the_reconciler(
        self, curator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No message is sent at all here: the transaction of the test never commits."""
        asked: list[int] = []
        monkeypatch.setattr("examples.tasks.repeat.delay", asked.append)
        version = make_version()
        ask_repeats(version, times=3, by=curator)
        tasks.wake_bulk_work()
        assert asked == [version.repeats.get().pk]
        version.repeats.update(lease_end=timezone.now() + timedelta(minutes=1), claim="x")
        tasks.wake_bulk_work()
        assert len(asked) == 1
        version.repeats.update(lease_end=timezone.now() - timedelta(seconds=1))
        tasks.wake_bulk_work()
        assert len(asked) == 2

    def test_repeats_wait_for_the_checks_of_their_version(self, curator: User) -> None:
        version = make_version()
        ask_repeats(version, times=3, by=curator)
        Version.objects.filter(pk=version.pk).update(check_state=State.RUNNING)
        assert due_repeats(at_most=9) == []
        assert not run_repeats(version.repeats.get().pk)

    def test_of_two_requests_for_repeats_the_second_is_refused(self, curator: User) -> None:
        version = make_version()
        ask_repeats(version, times=3, by=curator)
        with pytest.raises(RepeatsOpen):
            ask_repeats(version, times=4, by=curator)
        assert actions() == ["repeats asked for"]

    def test_a_worker_that_lost_the_request_keeps_nothing_and_the_next_does_it_once(
        self, curator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        version = make_version()
        ask_repeats(version, times=3, by=curator)
        request = version.repeats.get()
        done: list[str] = []

        def lose(*given: Any, hold: Any, **named: Any) -> None:
            version.repeats.update(claim="another", lease_end=timezone.now() - timedelta(seconds=1))
            hold()
            done.append("lost")

        monkeypatch.setattr("examples.checking.repeating.repeat_reference", lose)
        assert not run_repeats(request.pk)
        monkeypatch.setattr(
            "examples.checking.repeating.repeat_reference",
            lambda version, *, times, hold: (hold(), done.append(f"{times}")),
        )
        assert run_repeats(request.pk)
        assert not run_repeats(request.pk)
        request.refresh_from_db()
        assert (done, request.claim, request.lease_end) == (["3"], "", None)
        assert request.done_at is not None


class TestLicence:
    def test_a_licence_for_the_dataset_decides_the_check_of_its_examples_at_once(self, curator: User) -> None:
        only = failed("a", licence="No licence is known.")
        more = failed("b", reference="no", licence="No licence is known.")
        elsewhere = make_version("c", dataset="other")
        dataset = only.example.dataset
        assert edit_dataset(dataset, licence="Apache-2.0", by=curator)
        for version in (only, more, elsewhere):
            version.refresh_from_db()
        assert (only.check_state, only.failed_checks) == (State.PASSED, "")
        assert (more.check_state, more.failed_checks) == (State.FAILED, "reference")
        assert elsewhere.checks.get(name="licence").finding == "licence as it should be"
        check = only.checks.get(name="licence")
        assert (check.state, check.finding) == (Check.State.PASSED, "Apache-2.0, of dataset demo.")

    def test_taking_the_licence_away_fails_it_again(self, curator: User) -> None:
        version = candidate()
        edit_dataset(version.example.dataset, licence="", by=curator)
        version.refresh_from_db()
        assert (version.check_state, version.failed_checks) == (State.FAILED, "licence")

    def test_an_example_with_a_licence_of_its_own_is_left_alone(self, curator: User) -> None:
        version = candidate()
        Example.objects.filter(pk=version.example_id).update(licence="BSD-3-Clause")
        edit_dataset(version.example.dataset, licence="", by=curator)
        version.refresh_from_db()
        assert version.check_state == State.PASSED

    def test_the_example_can_have_its_own(self, curator: User) -> None:
        version = failed("a", licence="No licence is known.")
        set_licence(version.example, "MIT", by=curator)
        version.refresh_from_db()
        assert version.check_state == State.PASSED
        assert version.checks.get(name="licence").finding == "MIT, of the example."

    def test_unjudged_stays_unjudged_when_only_the_licence_was_amiss(self, curator: User) -> None:
        version = failed("a", licence="No licence is known.")
        version.checks.filter(name="stable").update(state=Check.State.UNJUDGED)
        edit_dataset(version.example.dataset, licence="ISC", by=curator)
        version.refresh_from_db()
        assert version.check_state == State.UNJUDGED

    def test_a_check_under_way_starts_over_since_its_worker_read_the_former_licence(
        self, curator: User
    ) -> None:
        version = candidate(checked=False)
        Version.objects.filter(pk=version.pk).update(check_state=State.RUNNING, check_claim="theirs")
        edit_dataset(version.example.dataset, licence="MIT-0", by=curator)
        version.refresh_from_db()
        assert (version.check_state, version.check_claim) == (State.PENDING, "")

    def test_nothing_is_written_where_nothing_is_different(self, curator: User) -> None:
        dataset = candidate().example.dataset
        assert not edit_dataset(dataset, licence="MIT", by=curator)
        assert actions() == []


class TestEdit:
    def test_an_edit_that_changes_nothing_is_the_same_content_for_all_published_records(
        self, db: None
    ) -> None:
        for item in exec_csn():
            version = imported(item)
            proposal = prepare(version, edit_of(version))
            assert proposal.content_hash == version.content_hash, item["idx"]

    def test_line_ends_of_a_browser_change_nothing(self, db: None) -> None:
        for item in exec_csn():
            version = imported(item)
            sent = {
                name: getattr(edit_of(version), name).replace("\r\n", "\n").replace("\n", "\r\n")
                for name in ("instruction", "context", "reference", "tests", "block")
            }
            proposal = prepare(version, replace(edit_of(version), **sent))
            assert proposal.content_hash == version.content_hash, item["idx"]

    def test_one_more_assertion_leaves_context_and_reference_alone_in_all_published_records(
        self, db: None
    ) -> None:
        for item in exec_csn():
            version = imported(item)
            edit = edit_of(version)
            proposal = prepare(
                version, replace(edit, tests=edit.tests.rstrip("\n") + "\n    assert 1 == 1\n")
            )
            columns = proposal.columns
            assert columns["context"] == version.context
            assert columns["reference"] == version.reference
            assert columns["expected"] == version.expected, item["idx"]
            assert columns["block"] == version.block
            whole = with_tests(
                columns["context"], columns["gap"], columns["reference"], segments_of(proposal.version)
            )
            assert "assert 1 == 1" in whole
            compile(whole, "whole", "exec")

    def test_one_more_line_of_context_moves_all_else_in_all_published_records(self, db: None) -> None:
        for item in exec_csn():
            version = imported(item)
            edit = edit_of(version)
            columns = prepare(version, replace(edit, context=f"# one more line\n{edit.context}")).columns
            assert columns["context"] == f"# one more line\n{version.context}"
            for name in ("reference", "block", "expected"):
                assert columns[name] == getattr(version, name), item["idx"]
            placed = Version(segments=columns["segments"])
            whole = with_tests(columns["context"], columns["gap"], columns["reference"], segments_of(placed))
            assert whole == "# one more line\n" + item["code"]

    def test_tests_stay_between_the_lines_that_they_stood_between(self, db: None) -> None:
        source = "import os\n\ndef add(a, b):\n    return a + b\n\ndef test_add():\n    assert add(1, 2) == 3\n\nLAST = 1\n"
        version = imported({**exec_csn()[0], "code": source, "func_name": "add"})
        edit = edit_of(version)
        assert edit.context == "import os\n\ndef add(a, b):\n    ...\n\nLAST = 1\n"
        edited = edit.context.replace("import os\n", "import os\nimport sys\n\nFIRST = 0\n")
        edited = edited.replace("LAST = 1\n", "LAST = 2\nMORE = 3\n")
        columns = prepare(version, replace(edit, context=edited)).columns
        whole = with_tests(
            columns["context"],
            columns["gap"],
            columns["reference"],
            segments_of(Version(segments=columns["segments"])),
        )
        assert whole == (
            "import os\nimport sys\n\nFIRST = 0\n\ndef add(a, b):\n    return a + b\n\nLAST = 2\nMORE = 3\n"
            "def test_add():\n    assert add(1, 2) == 3\n\n"
        )

    @pytest.mark.parametrize(
        ("was", "becomes", "said"),
        [
            ("def add(", "def plus(", "The function that is open must stay"),
            ("    ...", "    pass", "leave ... as all of it"),
            ("    ...", "    x = 1\n    ...", "leave ... as all of it"),
            ("    ...", '    """Add."""', "Leave ... where it belongs"),
            ("def add(", "def add((", "Line 1"),
            ("def add(", "def test_add():\n    pass\n\ndef add(", "tests are edited as tests"),
        ],
    )
    def test_a_context_without_its_open_function_is_refused_in_plain_words(
        self, was: str, becomes: str, said: str, db: None
    ) -> None:
        version = make_version()
        edit = edit_of(version)
        assert edit.context == "def add(a, b):\n    ...\n\n\n"
        with pytest.raises(EditInvalid) as refused:
            prepare(version, replace(edit, context=edit.context.replace(was, becomes)))
        assert list(refused.value.problems) == ["context"]
        assert said in refused.value.problems["context"]

    def test_a_method_may_get_another_indentation_with_its_reference(self, db: None) -> None:
        version = make_version()
        edited = "class Sum:\n    pass\n\n\ndef add(a, b):\n        ...\n\n\n"
        edit = replace(edit_of(version), context=edited, reference="        return a + b")
        columns = prepare(version, edit).columns
        assert columns["reference"] == "return a + b"
        assert columns["gap"] == edited.index("...")
        with pytest.raises(EditInvalid, match="reference"):
            prepare(version, replace(edit, reference="    total = a + b\n    return total"))

    def test_an_edited_context_makes_a_version_that_waits_for_its_checks(self, curator: User) -> None:
        version = make_version()
        edit = edit_of(version)
        edit = replace(edit, context=edit.context.replace("def add", "RATE = 1\n\n\ndef add"))
        made = propose_version(version, edit, note="A rate.", by=curator)
        assert (made.number, made.check_state) == (2, State.PENDING)
        assert made.context.startswith("RATE = 1")
        version.refresh_from_db()
        assert "RATE" not in version.context

    def test_the_reference_is_shown_and_taken_with_its_first_indentation(self, db: None) -> None:
        version = make_version()
        assert edit_of(version).reference == "    return a + b"
        proposal = prepare(
            version, replace(edit_of(version), reference="    total = a + b\n    return total\n")
        )
        assert proposal.columns["reference"] == "total = a + b\n    return total"
        assert indentation_of(version) == "    "

    @pytest.mark.parametrize(
        ("field", "text", "said"),
        [
            ("tests", "def test_add():\n    assert add(1, 2 == 3\n", "Line 2"),
            ("tests", "def check_add():\n    assert add(1, 2) == 3\n", "no test function"),
            ("block", "if __name__ == '__main__'\n    test_add()\n", "Line 1"),
            ("reference", "    return (a + b", "Line 1"),
            ("reference", "    total = a\n  return total", "Line 2"),
            ("reference", '    """Add."""\n    return a + b', "Begin with a statement"),
            ("reference", "    return a + b\n\ndef other():\n    pass", "Begin with a statement"),
        ],
    )
    def test_what_is_wrong_is_said_with_line_and_remedy(
        self, field: str, text: str, said: str, db: None
    ) -> None:
        version = make_version()
        with pytest.raises(EditInvalid) as raised:
            prepare(version, replace(edit_of(version), **{field: text}))
        assert list(raised.value.problems) == [field]
        assert said in raised.value.problems[field]

    def test_more_visible_assertions_than_there_are_is_said(self, db: None) -> None:
        version = make_version()
        with pytest.raises(EditInvalid, match="0 to 1"):
            prepare(version, replace(edit_of(version), visible=2))

    def test_a_second_test_function_is_expected_and_cut_apart(self, db: None) -> None:
        version = make_version()
        tests = (
            edit_of(version).tests + "\n\n# nothing is nothing\ndef test_zero():\n    assert add(0, 0) == 0\n"
        )
        proposal = prepare(version, replace(edit_of(version), tests=tests))
        assert proposal.columns["expected"] == ["test_add", "test_zero"]
        assert [each["name"] for each in proposal.columns["segments"]] == ["test_add", "test_zero"]
        assert "".join(each["text"] for each in proposal.columns["segments"]) == tests

    def test_a_block_that_runs_only_one_test_leaves_the_other_out(self, db: None) -> None:
        version = make_version()
        edit = edit_of(version)
        tests = edit.tests + "\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
        block = "if __name__ == '__main__':\n    test_add()\n"
        proposal = prepare(version, replace(edit, tests=tests, block=block))
        assert (proposal.columns["expected"], proposal.columns["block"]) == (["test_add"], block)


class TestNewVersion:
    def test_it_is_the_next_one_current_and_waits_for_its_checks_while_the_old_one_stays(
        self, curator: User
    ) -> None:
        old = make_version()
        edit = replace(edit_of(old), instruction="Add two integers.")
        new = propose_version(old, edit, note="It did not say which numbers.", by=curator)
        example = Example.objects.get(pk=old.example_id)
        assert (new.number, example.current, new.check_state) == (2, new, State.PENDING)
        assert (new.author, new.note) == (curator, "It did not say which numbers.")
        old.refresh_from_db()
        assert old.instruction == "Add two numbers (add)."
        assert actions() == ["version made"]

    def test_an_accepted_example_is_a_candidate_again_and_a_retired_one_stays_retired(
        self, curator: User
    ) -> None:
        first, second = make_version("a"), make_version("b")
        retire(second.example, reason="Wrong.", by=curator)
        for version in (first, second):
            propose_version(version, replace(edit_of(version), instruction="Other."), note="why", by=curator)
        assert list(Example.objects.order_by("pk").values_list("status", flat=True)) == [
            "candidate",
            "retired",
        ]

    def test_its_hash_is_that_of_an_import_of_the_same_content(self, curator: User) -> None:
        old = make_version()
        new = propose_version(old, replace(edit_of(old), visible=0), note="hide", by=curator)
        new.refresh_from_db()
        names = (
            "language",
            "instruction",
            "context",
            "gap",
            "reference",
            "segments",
            "block",
            "expected",
            "visible",
        )
        assert new.content_hash == content_hash(**{name: getattr(new, name) for name in names})

    def test_nothing_different_is_refused(self, curator: User) -> None:
        version = imported(exec_csn()[0])
        with pytest.raises(NothingChanged, match="from version 1"):
            propose_version(version, edit_of(version), note="none", by=curator)
        assert version.example.versions.count() == 1

    def test_the_content_of_an_older_version_is_refused_by_its_number(self, curator: User) -> None:
        first = imported(exec_csn()[0])
        second = propose_version(first, replace(edit_of(first), instruction="B"), note="b", by=curator)
        back = replace(edit_of(second), instruction=first.instruction)
        with pytest.raises(NothingChanged, match="content of version 1"):
            propose_version(second, back, note="back", by=curator)

    def test_another_environment_alone_is_a_new_version(self, curator: User) -> None:
        version = imported(exec_csn()[0])
        other = make_environment("science", digest="sha256:" + "b" * 64)
        new = propose_version(version, replace(edit_of(version), environment=other), note="numpy", by=curator)
        assert (new.content_hash, new.environment) == (version.content_hash, other)

    def test_who_edits_an_overtaken_version_is_told_and_saves_nothing(self, curator: User) -> None:
        old = make_version()
        propose_version(old, replace(edit_of(old), instruction="First."), note="a", by=curator)
        with pytest.raises(Overtaken, match="Version 2 was made while you edited version 1"):
            propose_version(old, replace(edit_of(old), instruction="Second."), note="b", by=curator)
        assert old.example.versions.count() == 2


class TestBrowse:
    def test_each_filter_lets_through_what_it_names(self, ann: User, ben: User) -> None:
        good, bad, waiting = candidate("good"), failed("bad", reference="no"), candidate("new", checked=False)
        study = make_study(versions=[good], people=[ann, ben])
        make_attempt(study, good, ann)
        expected = {
            (("q", good.example.label),): [good],
            (("q", good.example.label.lower()),): [good],
            (("q", "BAD add"),): [],
            (("q", "bad"),): [bad],
            (("status", "candidate"),): [good, bad, waiting],
            (("checks", "failed:reference"),): [bad],
            (("checks", "failed:licence"),): [],
            (("checks", "open"),): [waiting],
            (("checks", "passed"),): [good],
            (("study", "open"),): [good],
            (("study", "closed"),): [good],
            (("study", "never"),): [bad, waiting],
            (("dataset", "demo"),): [good, bad, waiting],
            (("dataset", "none"),): [],
            (("library", "numpy"),): [],
        }
        for asked, found in expected.items():
            examples = matching(Example.objects.all(), Filters(**dict(asked)))
            assert [each.current for each in examples.order_by("pk")] == found, asked

    def test_a_value_nobody_knows_is_left_out_and_text_is_bounded(self) -> None:
        filters = Filters.read(
            {"status": "x", "sort": "1;drop", "q": "a\0" + "b" * 900, "checks": "failed:nothing"}
        )
        assert (filters.status, filters.sort, filters.checks) == ("", "", "")
        assert len(filters.q) == 200

    def test_tabs_count_under_the_other_filters(self, db: None) -> None:
        candidate("a")
        failed("b", reference="no")
        make_version("c", dataset="other")
        counts = {
            tab.label: tab.total
            for tab in tabs(Example.objects.all(), Filters(dataset="demo", status="retired"))
        }
        assert counts == {
            "All": 2,
            "Candidate": 2,
            "Accepted": 0,
            "Retired": 0,
            "Being checked": 0,
            "Failed a check": 1,
        }


def imported(item: dict[str, object]) -> Version:
    """Return the current version of a new example with the content of a published record."""
    record = parse(item)
    version = make_version(
        record.key,
        language=record.language,
        instruction=record.instruction,
        focal_name=record.focal_name,
        context=record.context,
        gap=record.gap,
        reference=record.reference,
        segments=segments_as_json(record.tests),
        block=record.block,
        expected=list(record.expected),
        visible=record.visible,
    )
    version.content_hash = record.content_hash
    version.save(update_fields=["content_hash"])
    return version
