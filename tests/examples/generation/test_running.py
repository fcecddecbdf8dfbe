"""A fragment's way: what a repair, a curator's review, a budget, a stop or a second worker makes of it."""

from __future__ import annotations

import pytest

from examples.generation import claims
from examples.generation.running import generate, withdraw_failed
from examples.generation.runs import RunRefused, go_on, halt_run, replay_run, resume_run
from examples.llm import Reply
from examples.models import Call, Dataset, Example, Fragment, Round
from runner.outcome import Outcome
from tests.examples.generation.asking import Answering, asked, file_of, generate_all, start
from tests.examples.generation.replies import BOOLS, BOOLS_PROGRAM, NAMES, code, instruction, script
from tests.factories import make_environment, make_version
from tests.scripted_endpoint import Act, Fail, Say

BOOLS_SOURCE = BOOLS_PROGRAM[BOOLS_PROGRAM.index("def ") :]
SOURCE = '''def untranslateName(s):
    """Undo Python conversion of CL parameter or variable name."""
    s = s.replace("DOT", ".").replace("DOLLAR", "$")
    if s[:2] == "PY":
        s = s[2:]
    return s.replace(".PY", ".")
'''
NAMED = instruction("Undo the conversion of a name.")
PACKED = instruction("Yield integers that hold truth values as bits, the first lowest.")


def rounds_of(fragment: Fragment) -> list[tuple[str, str, str]]:
    return list(fragment.rounds.values_list("step", "subject", "rule"))


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
def test_a_name_that_the_program_lacks_is_repaired_in_the_program_and_tests_stay(warm: None) -> None:
    lacking = BOOLS_PROGRAM.replace("ATOMS = {", "OTHER = {")
    replies: dict[str, list[Act]] = {
        "standalone": [code(lacking)],
        "write_tests": [code(BOOLS)],
        "repair_program": [code(BOOLS_PROGRAM)],
        "acceptance": [PACKED],
    }
    with asked(script({"packbools": replies})) as server:
        (fragment,) = generate_all(start(file_of(BOOLS_SOURCE, "packbools"), review=True))
    assert fragment.state == "ready"
    assert rounds_of(fragment)[2] == ("repair", "program", "")
    shown = server.requests[2]["messages"][1]["content"]
    assert "NameError: name 'ATOMS' is not defined (solution.py, line" in shown
    assert "by itself with Python 3.13 and its standard library alone." in shown
    assert "test_packbools, line 2: assert list(packbools(" in shown
    assert [each.execution.outcome for each in fragment.rounds.exclude(execution=None)] == [
        "FAILED",
        "PASSED",
    ]


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
def test_added_tests_hold_what_the_reference_gives_and_what_held_awaits_a_curator(warm: None) -> None:
    calls = "untranslateName('PYa.PYb')\nuntranslateName(3)\nprint('x')\nuntranslateName('DOTDOT')\n"
    replies: dict[str, list[Act]] = {
        "write_tests": [code(NAMES)],
        "augmentation": [code(calls)],
        "acceptance": [NAMED],
    }
    with asked(script({"untranslateName": replies})):
        run = start(file_of(SOURCE, "untranslateName"), augment=True, review=True)
        (fragment,) = generate_all(run)
    assert fragment.state == "ready"
    assert fragment.example is None
    added = fragment.rounds.get(step="augmentation")
    assert added.text.endswith(
        "\n\n\ndef test_more():\n"
        "    assert untranslateName('PYa.PYb') == 'a.b'\n"
        "    assert untranslateName('DOTDOT') == '..'\n"
    )
    assert added.execution.outcome == Outcome.PASSED
    assert run.state == "finished"


@pytest.mark.docker
@pytest.mark.django_db(transaction=True)
def test_what_fails_a_check_is_rejected_by_its_name_and_becomes_no_example(warm: None) -> None:
    Dataset.objects.create(name="made", title="Made")
    replies: dict[str, list[Act]] = {"write_tests": [code(NAMES)], "acceptance": [NAMED]}
    with asked(script({"untranslateName": replies})):
        (fragment,) = generate_all(start(file_of(SOURCE, "untranslateName", licence="")))
    assert (fragment.state, fragment.reason_code) == ("rejected", "check_licence")
    assert fragment.reason.startswith("Licence known: No licence is known.")
    assert not Example.objects.exists()


@pytest.mark.django_db
def test_an_example_whose_checks_fail_after_all_is_retired_and_its_fragment_rejected() -> None:
    make_environment()
    with asked(lambda _: Say("never")):
        run = start(file_of(SOURCE, "untranslateName"))
    version = make_version("made-1", checked=False)
    version.check_state, version.failed_checks = "failed", "stable"
    version.save()
    run.fragments.update(state="accepted", example=version.example)
    assert withdraw_failed(run) == 1
    fragment = run.fragments.get()
    assert (fragment.state, fragment.reason_code, fragment.example) == ("rejected", "checks", None)
    version.example.refresh_from_db()
    assert (version.example.status, version.example.status_reason) == ("retired", fragment.reason)
    assert withdraw_failed(run) == 0


@pytest.mark.django_db
def test_a_spent_budget_stops_the_run_before_the_next_question_and_a_higher_one_lets_it_go_on() -> None:
    make_environment()
    replies: dict[str, list[Act]] = {"standalone": [Say("no code", tokens=(900, 90))]}
    with asked(script({"packbools": replies})) as server:
        run = start(file_of(BOOLS_SOURCE, "packbools"), max_tokens=100, budget_tokens=2_600, rounds=1)
        (fragment,) = generate_all(run)
        assert (run.state, fragment.state) == ("stopped", "waiting")
        assert run.reason.startswith("The budget is spent: 1610 of 2600 tokens are left")
        assert (len(server.requests), run.charged_tokens) == (1, 990)
        assert generate(fragment.pk) is None, "nobody takes a fragment of a stopped run"
        with pytest.raises(RunRefused, match="below what is spent"):
            resume_run(run, by=None, budget_tokens=500, wake=False)
        assert resume_run(run, by=None, budget_tokens=10_000, wake=False) == 1
        (fragment,) = generate_all(run)
    assert (fragment.state, fragment.reason_code) == ("rejected", "one_code_block")
    assert (run.state, run.reason, run.charged_tokens) == ("finished", "", 1_980)


@pytest.mark.django_db
def test_what_the_endpoint_refuses_stops_the_run_with_its_words() -> None:
    make_environment()
    with asked(lambda _: Fail(401, "no such key")):
        run = start(file_of(BOOLS_SOURCE, "packbools"))
        (fragment,) = generate_all(run)
    assert (run.state, run.reason) == ("stopped", "The endpoint answers 401: no such key")
    assert (fragment.state, Call.objects.get().state) == ("waiting", "refused")


@pytest.mark.django_db
def test_a_run_asks_no_other_endpoint_than_the_one_it_was_started_with() -> None:
    make_environment()
    with asked(lambda _: Say("never")):
        run = start(file_of(BOOLS_SOURCE, "packbools"))
    with asked(lambda _: Say("elsewhere")) as other:
        generate_all(run)
    assert other.requests == []
    assert "Set it to the run's" in run.reason


@pytest.mark.django_db
def test_a_stop_in_mid_run_keeps_the_round_and_what_is_resumed_goes_on_from_it() -> None:
    make_environment()

    with asked(lambda _: Say("no code")) as server:
        run = start(file_of(BOOLS_SOURCE, "packbools"), rounds=1)
        first = run.fragments.get()
        generate(first.pk, model=Answering(lambda: (halt_run(run, by=None), Reply("no code"))[1]))
        run.refresh_from_db()
        first.refresh_from_db()
        assert (run.state, first.state) == ("stopped", "waiting")
        assert rounds_of(first) == [("standalone", "program", "one_code_block")]
        resume_run(run, by=None, wake=False)
        generate_all(run)
    assert len(server.requests) == 1
    assert Round.objects.count() == 2


@pytest.mark.django_db
def test_code_that_is_nested_too_deeply_breaks_a_rule_and_no_worker() -> None:
    make_environment()
    deep = "def test_f():\n" + "    assert packbools(" + "1+" * 3000 + "1) == 1\n"
    with asked(script({"packbools": {"standalone": [code(BOOLS_PROGRAM)], "write_tests": [code(deep)]}})):
        (fragment,) = generate_all(start(file_of(BOOLS_SOURCE, "packbools"), rounds=0))
    assert (fragment.state, fragment.reason_code) == ("rejected", "syntax")


@pytest.mark.django_db
def test_a_fragment_is_worked_on_by_one_worker_at_a_time() -> None:
    make_environment()
    with asked(lambda _: Say("no code")) as server:
        fragment = start(file_of(BOOLS_SOURCE, "packbools")).fragments.get()
        assert claims.take(fragment.pk) is not None
        assert generate(fragment.pk) is None
    assert server.requests == []


@pytest.mark.django_db
def test_what_a_dead_process_had_is_given_back_to_its_successor_only() -> None:
    make_environment()
    with asked(lambda _: Say("no code")):
        fragment = start(file_of(BOOLS_SOURCE, "packbools")).fragments.get()
    claim = claims.take(fragment.pk)
    assert claim is not None
    assert claims.give_back_boot("") == 0
    assert claims.give_back_boot("another") == 0
    assert claims.give_back_boot(claim.token[:12]) == 1
    with pytest.raises(claims.ClaimLost):
        claim.renew()


@pytest.mark.django_db
def test_a_replay_stops_where_the_recorded_run_was_never_asked() -> None:
    make_environment()
    with asked(lambda _: Say("no code")):
        run = start(file_of(BOOLS_SOURCE, "packbools"), rounds=0)
        generate_all(run)
    again = replay_run(run, name="again", by=None)
    again.fragments.update(source=BOOLS_SOURCE.replace("chunks", "pieces"))
    (fragment,) = generate_all(again)
    assert (fragment.state, fragment.reason_code) == ("stopped", "endpoint")
    assert "was never asked this of fragment 1" in fragment.reason
    same = replay_run(run, name="same", by=None)
    (fragment,) = generate_all(same)
    assert (fragment.state, fragment.reason_code) == ("rejected", "one_code_block")


@pytest.mark.django_db
def test_a_question_that_is_put_twice_is_replayed_with_both_replies_in_their_order() -> None:
    make_environment()
    said = [Say("one"), Say("two"), Say("three")]
    with asked(script({"packbools": {"standalone": said}})):
        run = start(file_of(BOOLS_SOURCE, "packbools"), rounds=2)
        generate_all(run)
    generate_all(replay_run(run, name="again", by=None))
    calls = Call.objects.order_by("run", "number").values_list("run__name", "reply", "request_hash")
    recorded, replayed = [[each[1:] for each in calls if each[0] == name] for name in ("run-1", "again")]
    assert [reply for reply, _ in recorded] == ["one", "two", "three"]
    assert recorded[1][1] == recorded[2][1], "the second and the third question are the same"
    assert recorded == replayed


@pytest.mark.django_db
def test_a_run_of_a_taken_name_is_refused() -> None:
    make_environment()
    with asked(lambda _: Say("never")):
        start(file_of(BOOLS_SOURCE, "packbools"))
        with pytest.raises(RunRefused, match="already"):
            start(file_of(BOOLS_SOURCE, "packbools"))


@pytest.mark.django_db
def test_a_finished_run_goes_on_when_fragments_come_in() -> None:
    make_environment()
    with asked(lambda _: Say("no code")):
        run = start(file_of(BOOLS_SOURCE, "packbools"), rounds=0)
        generate_all(run)
        assert run.state == "finished"
        Fragment.objects.create(run=run, number=2, source=BOOLS_SOURCE, function="packbools")
        assert go_on(run, wake=False) == 1
        generate_all(run)
    assert run.state == "finished"
    assert run.fragments.get(number=2).state == "rejected"
