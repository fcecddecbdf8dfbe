"""EXPORT: what each column of a study's tables means; the codebook is made of it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from annotation.models import Study
from annotation.protocols import LABELS, differences, in_words


class Column(NamedTuple):
    """A column: its name, and its meaning with unit and values."""

    name: str
    meaning: str


class Table(NamedTuple):
    """A table: one row for what, and its columns."""

    row: str
    columns: tuple[Column, ...]


def _columns(**meanings: str) -> tuple[Column, ...]:
    return tuple(Column(name, meaning) for name, meaning in meanings.items())


_WHO = {
    "attempt": "number of the attempt; joins the tables",
    "person": "pseudonym in this study (P01 …), stable; another study names the same person differently",
}
TABLES = {
    "attempts": Table(
        "attempt",
        _columns(
            **_WHO,
            example="example and version, such as EX-0417 v2",
            content_hash="sha256 of the version's content",
            slot="which of the version's places, 1 to k",
            protocol="number of the protocol under which it began",
            arm="the help it might use: none, search, assistant",
            state="open, submitted (verdict due), closed, deferred, declined, reported (as broken), released (slot given back)",
            started_at="server time, UTC",
            ended_at="when the work on the code ended, UTC; empty while open",
            solved="by execution: a submission PASSED unflagged, or stands by a curator's ruling; whatever the verdict says",
            solved_at_submission="which judged submission passed first, from 1; empty where none",
            submissions="how many submissions were made",
            outcome="the annotator's own word in the verdict; empty before it",
            difficulty="the annotator's rating on the study's scale",
            gave_up_reason="in the annotator's words",
            extra="true: surplus, beyond the k places, such as a submission after its place had gone to another; in no figure",
            left_out="why the protocol leaves the attempt out of every figure; empty where it counts",
            interrupted="the last submission stayed unjudged: our fault",
            paused_seconds="the person had stopped the clock",
            outage_seconds="no sign of life, or we were down",
            waiting_seconds="an execution was queued or running",
            idle_seconds="no tab visible, or no input for the idle limit of its protocol",
            active_seconds="after the first input",
            reading_seconds="before the first input",
            counted_seconds_60="active plus reading if the idle limit were 60 s",
            counted_seconds_120="the same for 120 s",
            counted_seconds_300="the same for 300 s",
        ),
    ),
    "runs": Table(
        "run or submission",
        _columns(
            **_WHO,
            number="in the attempt, from 1",
            kind="visible (visible tests), scratch (own snippet), submission (everything, for the record)",
            created_at="server time, UTC",
            function="the function as sent",
            module="imports and helpers as sent",
            snippet="of a scratch run",
            sha256="of function, NUL, module",
            state="finished, unjudged (our fault), queued, running",
            outcome="PASSED FAILED NOT_RUN LOAD_ERROR EARLY_EXIT TIMEOUT_CPU TIMEOUT_WALL MEMORY OUTPUT_LIMIT SIGNAL",
            flagged="true: it passed its tests and could not be confirmed",
            ruling="of a curator on a flagged one: stands, refused; empty where none was made",
            cpu_seconds="measured",
            wall_seconds="measured",
            memory_bytes="highest, measured",
            image="digest of the image it ran in",
        ),
    ),
    "intervals": Table(
        "stretch of an attempt",
        _columns(
            **_WHO,
            kind="paused, outage, waiting, idle, active or reading; the first that holds",
            start="UTC",
            end="UTC",
            seconds="length",
        ),
    ),
    "verdicts": Table(
        "verdict",
        _columns(
            **_WHO,
            outcome="solved, gave_up, out_of_time, underspecified, tests_wrong, environment_broken, knew_it",
            solved="by execution, as it stood when the verdict was given",
            difficulty="on the study's scale, asked whatever the outcome",
            instruction_quality="0 to 3, in the words of the protocol; 3 is worst",
            instruction_note="what is unclear in the instruction",
            test_quality="0 to 3, in the words of the protocol; 3 is worst",
            test_note="what the tests are too strict about, or look for instead",
            confidence="0 guessing, 1 fairly sure, 2 sure, 3 certain; empty where the protocol does not ask",
            aids="what was used, as declared: none, search, assistant; empty where nothing was said",
            aids_text="which one, and for what",
            prior_exposure="no, similar, seen (this code or its solution); empty where the protocol does not ask",
            text="free text",
            evidence_test="what is held to be wrong: a visible assertion as test:number, hidden, or none",
            evidence_input="on which input",
            evidence_expected="what a right answer gives for it; of a doubtful instruction, what one reading gives",
            evidence_got="what the test demands or what came instead; what the other reading gives",
            evidence="why",
            revision="1; more where a curator had it given again",
            carried="true: taken over to a version whose tests changed",
            created_at="server time, UTC, of this revision",
        ),
    ),
    "answers": Table(
        "change of the closing form",
        _columns(
            **_WHO,
            number="in the attempt, from 1: the order in which the server received them",
            kind="saved (answers changed before closing), closed (all answers), reopened (by a curator)",
            at="server time, UTC",
            changed="answers that changed, each with its new value, as an object; in CSV as JSON",
            reason="of a re-opening",
        ),
    ),
    "second_judgements": Table(
        "reveal of reference and hidden tests to the annotator of a closed attempt",
        _columns(
            **_WHO,
            revealed_at="server time, UTC",
            reference="right, wrong, unsure; empty where no second judgement was given, as in what follows",
            tests="fair, unfair (reject what the instruction allows), weak (accept what it forbids), unsure",
            instruction_quality="0 to 3, as in the verdict, which it never changes",
            test_quality="0 to 3, as in the verdict",
            text="free text",
            created_at="server time, UTC",
        ),
    ),
    "people": Table(
        "person who took part",
        _columns(
            person=_WHO["person"],
            programming_years="experience as said, in bands: under 1, 1 to 2, 3 to 5, 6 to 10, over 10; empty for rather not say",
            language_years="the same for the language of the examples",
            familiarity="with libraries like those of the examples: none, some, well; empty for rather not say",
            prior_exposure="none, sources (knows some of the code), examples (has seen some); empty for rather not say",
            withdrew="true: left the study; their rows stay",
            left_out="true: asked to be in no figure",
        ),
    ),
    "events": Table(
        "event of an attempt, in the order of time",
        _columns(
            **_WHO,
            at="server time, UTC",
            seconds="since the attempt began",
            event="started, draft, run, scratch, submission, paste, interval, ended, answered, closed, reopened, "
            "revealed, second_judgement",
            detail="what is recorded of it, as an object; in CSV as JSON. draft: revision and code. run, scratch, "
            "submission: code, outcome, measurements, output, and rows, one a test or assertion. paste: editor, origin, "
            "characters, lines; never its text. interval: kind, until, seconds, folded from beats under the study's idle "
            "limit. answered, closed: answers of the closing form",
        ),
    ),
}


def codebook(study: Study) -> str:
    """Return codebook.md of a study: its protocol in short, and every column of every table."""
    protocol = study.protocol
    lines = [
        f"# Codebook of {study.title}",
        "",
        f"Study `{study.name}`, k = {protocol.solvers}, submissions allowed: {protocol.submissions}, limit on active time "
        f"{protocol.active_limit_seconds} s, idle limit {protocol.idle_limit_seconds} s, seed {protocol.seed}. Difficulty scale: "
        f"{'; '.join(protocol.difficulty_levels)}.",
        "",
        "CSV is UTF-8 with CRLF and a head row; empty means none. Text that a spreadsheet would take for a formula (it",
        "begins with = + - @, tab or CR) has an apostrophe before it, in CSV only. JSON Lines hold the text as it is.",
        "Seconds are rounded to the millisecond.",
        *_protocols(study),
    ]
    for name, table in TABLES.items():
        lines += [
            "",
            f"## {name}",
            "",
            f"One row for each {table.row}.",
            "",
            "| column | meaning |",
            "| --- | --- |",
        ]
        lines += [f"| `{column.name}` | {column.meaning} |" for column in table.columns]
    return "\n".join([*lines, ""])


def _protocols(study: Study) -> list[str]:
    """Return every protocol that was in force: every rule of the first, and of each other what it changed and why."""
    frozen = [each for each in study.protocols.order_by("number") if each.frozen_at] or [study.protocol]
    first, lines = frozen[0], ["", "## Protocols"]
    lines += ["", f"Protocol {first.number}:", ""]
    lines += [
        f"- {label}: {_one_line(in_words(name, getattr(first, name)))}" for name, label in LABELS.items()
    ]
    for before, after in pairwise(frozen):
        lines += ["", f"Protocol {after.number}, in force from {after.frozen_at:%Y-%m-%d %H:%M} UTC."]
        lines += [f"Reason: {_one_line(after.reason)}", ""]
        lines += [
            f"- {change.label}: {_one_line(change.before)} → {_one_line(change.after)}"
            for change in differences(before, after)
        ]
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())
