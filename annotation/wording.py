"""PROTOCOL: what annotators read of it: plain sentences made from its fields, for the preview and the guidelines page."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Arm, Protocol
from annotation.study.exclusions import in_sentences

ARM_SENTENCES = {
    Arm.NONE: "Only the documentation of the language and its libraries. No web search for the solution, no code "
    "assistant.",
    Arm.SEARCH: "Web search is allowed. Code assistants, also those built into a search page, are not.",
    Arm.ASSISTANT: "Web search and a code assistant are allowed.",
}
ALWAYS_LEFT_OUT = (
    "You wrote the example yourself.",
    "You deferred, declined or reported it, or your place went back before you gave a verdict.",
    "The example left the study as broken.",
    "You left the study and asked for it.",
    "We failed: the runner or the site was down at the end, and you had not solved it.",
)


@dataclass(frozen=True)
class Part:
    """A heading, and what stands under it: sentences, grades with their wording, or Markdown of the curator's."""

    title: str
    sentences: tuple[str, ...] = ()
    grades: tuple[tuple[str, str], ...] = ()
    markdown: str = ""


def read_as(protocol: Protocol, *, arm: str = "") -> tuple[Part, ...]:
    """Return what annotators read of the protocol, in order; parts without content are left out.

    `arm` is the one an attempt was given; "" lists all that can be drawn.
    """
    parts = (
        Part("Consent", markdown=protocol.consent_text),
        Part("Before the first example", _before(protocol)),
        Part("Guidelines", markdown=protocol.guidelines),
        Part("What you see and can run", _seen(protocol)),
        Part("What help is allowed", _help(protocol, arm)),
        Part("Time", _time(protocol)),
        Part("Submitting and giving up", _submitting(protocol)),
        Part("What you are asked at the end", _asked(protocol)),
        Part(protocol.difficulty_question, grades=tuple((level, "") for level in protocol.difficulty_levels)),
        Part("The instruction", grades=_graded(protocol.instruction_anchors)),
        Part("The tests", grades=_graded(protocol.test_anchors)),
        Part("When an attempt is left out of the figures", _left_out(protocol)),
    )
    return tuple(part for part in parts if part.sentences or part.grades or part.markdown)


def counted(number: int, one: str, many: str = "") -> str:
    """Return "1 minute" or "3 minutes"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def minutes(seconds: int) -> str:
    """Return "20 minutes", "90 seconds": whole minutes where they are, else seconds."""
    return (
        counted(seconds // 60, "minute")
        if seconds >= 60 and seconds % 60 == 0
        else counted(seconds, "second")
    )


def _before(protocol: Protocol) -> tuple[str, ...]:
    said = []
    if protocol.consent_text:
        said.append("You are asked for your consent to the text above; without it no work is given out.")
    if protocol.warm_up:
        said.append("A warm-up shows the editor and the runner. It counts for nothing.")
    if protocol.pass_mark is not None:
        said.append(
            f"A qualification follows: solve at least {100 * protocol.pass_mark:.0f} % of its examples to take part."
        )
    if protocol.gold_every:
        said.append(
            f"About one in {protocol.gold_every + 1} examples later is a check whose answer we know. It is not marked, and "
            "is in no figure of the study."
        )
    return tuple(said)


def _seen(protocol: Protocol) -> tuple[str, ...]:
    tests = (
        "You see part of the tests and can run them as often as you like. The rest stays hidden."
        if protocol.shows_visible_tests
        else "All tests stay hidden."
    )
    others = (
        "You alone solve each of your examples; nobody sees your work meanwhile."
        if protocol.solvers == 1
        else f"Each example is solved by {protocol.solvers} people who see nothing of one another."
    )
    return (
        "An instruction, and the code around one open function. You write its body, and may add imports and helpers.",
        tests,
        "You can run snippets of your own at any time.",
        others,
    )


def _help(protocol: Protocol, arm: str) -> tuple[str, ...]:
    arms = [Arm(each) for each in protocol.arms]
    if arm in arms:
        said = [ARM_SENTENCES[Arm(arm)]]
    elif len(arms) == 1:
        said = [ARM_SENTENCES[arms[0]]]
    else:
        said = ["What is allowed is drawn for each example, and stands beside it:"]
        said += [f"{each.label.capitalize()}. {ARM_SENTENCES[each]}" for each in arms]
    said.append("At the end you say what you used. An honest answer has no bad consequence for you.")
    if protocol.records_pastes:
        said.append(
            "When you paste into the editor, the time and the length are stored, never the clipboard itself."
        )
    return tuple(said)


def _time(protocol: Protocol) -> tuple[str, ...]:
    return (
        f"You have {minutes(protocol.active_limit_seconds)} of active time for each example.",
        "Active time runs while the page is visible and you work. Pauses, outages, and the time a run waits or takes do "
        "not count.",
        f"After {minutes(protocol.idle_limit_seconds)} without any input the clock stands still until you go on.",
    )


def _submitting(protocol: Protocol) -> tuple[str, ...]:
    submissions = (
        "You have one submission. It executes every test and ends your work on the example."
        if protocol.submissions == 1
        else f"You have {protocol.submissions} submissions. Each executes every test; the work ends with the first that "
        "passes, or with the last."
    )
    give_up = (
        f"You can give up after {minutes(protocol.give_up_after_seconds)} of active time."
        if protocol.give_up_after_seconds
        else "You can give up at any time."
    )
    return (
        submissions,
        "Of a submission you read the outcome and how many tests passed, no more. One that we could not judge does not "
        "count.",
        give_up,
    )


def _asked(protocol: Protocol) -> tuple[str, ...]:
    said = [
        "Whatever came of it, you say how it ended, how hard it was, and grade instruction and tests from 0 to 3."
    ]
    said.append(
        "Every grade needs a note that says why."
        if protocol.note_from == 0
        else f"A grade of {protocol.note_from}{' or more' if protocol.note_from < 3 else ''} needs a note that says why."
    )
    if protocol.asks_confidence:
        said.append("You say how sure you are of your answer.")
    if protocol.asks_prior_exposure:
        said.append("You say whether you had seen the example, or something like it, before.")
    if protocol.reveals_after_closing:
        said.append(
            "After closing you are shown the reference and all tests, and judge once more. Your first answers stay as "
            "they are."
        )
    return tuple(said)


def _left_out(protocol: Protocol) -> tuple[str, ...]:
    return (*in_sentences(protocol.exclusion_rules), *ALWAYS_LEFT_OUT)


def _graded(anchors: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((str(grade), anchor) for grade, anchor in enumerate(anchors))
