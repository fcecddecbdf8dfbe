"""EVALUATE: files of models' samples, record by record; one parser for each published form; pure."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from examples.importing.base import Problem, RecordInvalid, key_of, refuse_unstorable, refuse_unstorable_json
from examples.importing.containers import CHUNK, FileBroken, Item, json_lines, json_list, opened

PEEKED = 20
READABLE = (
    "Benchwright reads HumanEval samples (task_id with completion or solution), CodeT's (prompt with samples), "
    "outputs of Exec-CSN's inference (idx with completions) and its own (key with reply); JSON Lines or a JSON list, also .gz."
)
EXEC_CSN_CODE = "gen_"
SUCCESS = "success"
# Fields of our own form that are kept beside the reply.
OWN_FACTS = ("finish_reason", "prompt_tokens", "completion_tokens", "cost", "seconds", "seed")


@dataclass(frozen=True)
class Reply:
    """What a model said, as received; `recorded` is the verdict that came with it, None where none did."""

    text: str
    recorded: bool | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Given(NamedTuple):
    """What a record gives to one example, and the record's place in the file.

    The example is named by its `key`, or by the `prompt` that stands before its gap; the other is "". `first` is the
    number of the first reply, None where records of one example are numbered in the order of the file.
    """

    number: int
    line: int
    key: str
    prompt: str
    replies: tuple[Reply, ...]
    first: int | None


class Unusable(NamedTuple):
    """A record without a reply that can be kept. Where it names its example, it still takes a number there."""

    problem: Problem
    key: str


@dataclass(frozen=True)
class Form:
    """A published form: its name, the test for an object's keys, which field names the example, and its parser."""

    name: str
    recognises: Callable[[frozenset[str]], bool]
    named_by: str
    parse: Callable[[Mapping[str, Any]], tuple[tuple[Reply, ...], int | None]]


def read(stream: BinaryIO) -> Iterator[Given | Unusable]:
    """Yield what each record gives, in order and in flat memory; of a file that is refused, one problem with number 0."""
    try:
        yield from _read(opened(stream))
    except FileBroken as error:
        yield _refused(str(error), "Make the file anew and import again; the records before are in.")


def _read(stream: io.BufferedReader) -> Iterator[Given | Unusable]:
    head = stream.peek(CHUNK)[:CHUNK]
    if b"\0" in head:
        yield _refused("is no text in UTF-8", READABLE)
        return
    is_list = head.decode("utf-8-sig", errors="ignore").lstrip().startswith("[")
    items = json_list(stream) if is_list else json_lines(stream)
    peeked = list(islice(items, PEEKED))
    values = [frozenset(item.value) for item in peeked if isinstance(item, Item)]
    form = next((form for keys in values for form in FORMS if form.recognises(keys)), None)
    if form is None:
        keys = ", ".join(sorted(values[0])[:6]) if values else ""
        said = f"holds records of no known form (keys {keys})" if values else "holds no JSON record"
        yield _refused(said, READABLE)
        return
    for item in chain(peeked, items):
        yield Unusable(item, "") if isinstance(item, Problem) else _given(item, form)


def _given(item: Item, form: Form) -> Given | Unusable:
    key = ""
    try:
        if form.named_by == "prompt":
            name = _text(item.value, "prompt")
        else:
            name = key = key_of(item.value, form.named_by)
        replies, first = form.parse(item.value)
    except RecordInvalid as error:
        return Unusable(error.at(item.number, item.line), key)
    return Given(item.number, item.line, key, "" if key else name, replies, first)


def _human_eval(item: Mapping[str, Any]) -> tuple[tuple[Reply, ...], int | None]:
    name = "completion" if "completion" in item else "solution"
    return (Reply(_text(item, name), _verdict(item.get("passed"))),), None


def _codet(item: Mapping[str, Any]) -> tuple[tuple[Reply, ...], int | None]:
    return tuple(Reply(text) for text in _texts(item, "samples")), 1


def _exec_csn(item: Mapping[str, Any]) -> tuple[tuple[Reply, ...], int | None]:
    """Read what https://github.com/yiqingxyq/CodeBenchGen, evaluation/inference.py and execution_passk.py, write.

    The whole replies where they are kept, else the code that was cut out of them; the verdicts beside that code.
    """
    code = next((name for name in item if name.startswith(EXEC_CSN_CODE)), "")
    texts = _texts(item, "completions" if "completions" in item or not code else code)
    results = item.get(f"exec_{code}") if code else None
    verdicts: list[bool | None] = [None] * len(texts)
    if isinstance(results, list) and len(results) == len(texts):
        verdicts = [each[0] == SUCCESS if isinstance(each, list) and each else None for each in results]
    return tuple(Reply(text, verdict) for text, verdict in zip(texts, verdicts, strict=True)), 1


def _own(item: Mapping[str, Any]) -> tuple[tuple[Reply, ...], int | None]:
    facts = {name: item[name] for name in OWN_FACTS if name in item}
    refuse_unstorable_json(facts, "facts")
    number = item.get("number")
    if number is not None and not (isinstance(number, int) and not isinstance(number, bool) and number >= 1):
        raise RecordInvalid("number", "is no whole number from 1", "Number the samples of an example from 1.")
    return (Reply(_text(item, "reply"), _verdict(item.get("passed")), facts),), number


def _text(item: Mapping[str, Any], name: str) -> str:
    """Return a field's text, which may be empty: a model that says nothing has answered. Raises RecordInvalid."""
    value = item.get(name)
    if not isinstance(value, str):
        said = "is missing" if value is None else f"is {type(value).__name__}, not text"
        raise RecordInvalid(name, said, f"Give the record its {name} as a JSON string.")
    refuse_unstorable(value, name)
    return value


def _texts(item: Mapping[str, Any], name: str) -> list[str]:
    """Return a field's texts; one text is a list of one. Raises RecordInvalid."""
    value = item.get(name)
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values:
        raise RecordInvalid(name, "is no list of texts", f"Give the record a list of its samples as {name}.")
    return [_text({f"{name}[{at}]": each}, f"{name}[{at}]") for at, each in enumerate(values)]


def _verdict(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _refused(message: str, remedy: str) -> Unusable:
    return Unusable(Problem(0, 0, "file", message, remedy), "")


FORMS = (
    Form("benchwright", lambda keys: {"key", "reply"} <= keys, "key", _own),
    Form(
        "humaneval",
        lambda keys: "task_id" in keys and bool(keys & {"completion", "solution"}),
        "task_id",
        _human_eval,
    ),
    Form("codet", lambda keys: {"prompt", "samples"} <= keys, "prompt", _codet),
    Form(
        "exec-csn",
        lambda keys: (
            "idx" in keys and ("completions" in keys or any(key.startswith(EXEC_CSN_CODE) for key in keys))
        ),
        "idx",
        _exec_csn,
    ),
)
