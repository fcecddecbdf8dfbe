"""GENERATE: start a run that asks a model, stop it, resume it, let a recorded one answer again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction

from examples.generation import prompts
from examples.generation.running import stop_run
from examples.models import Dataset, Fragment, GenerationRun, audit
from examples.waking import wake_on_commit
from runner.models import Environment

BATCH = 100
COPIED = (
    *("path", "base_url", "model", "temperature", "seed", "max_tokens", "json_mode"),
    *("prompt_micros", "completion_micros", "prompts", "rounds", "augment", "review"),
)
State = GenerationRun.State


class RunRefused(ValueError):
    """Why a run cannot be started or resumed, and what helps."""


@dataclass(frozen=True)
class Options:
    """How a run asks, and what it may spend; prices are per million tokens and money is in millionths."""

    model: str = ""
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int = 2048
    json_mode: bool = False
    prompt_micros: int = 0
    completion_micros: int = 0
    rounds: int = 3
    augment: bool = False
    review: bool = False
    budget_tokens: int | None = None
    budget_micros: int | None = None


def start_run(
    name: str, *, dataset: Dataset, environment: Environment, options: Options, by: Any
) -> GenerationRun:
    """Save a run that asks a model; fragments are taken into it (fragments/taking.py), then it goes on. Raises RunRefused.

    The endpoint is the one of the settings: neither a page nor a command can point the key elsewhere.
    """
    model = options.model or settings.LLM_MODEL
    if not settings.LLM_BASE_URL:
        raise RunRefused("No endpoint is set. Set BENCHWRIGHT_LLM_URL, or make examples without a model.")
    if not model:
        raise RunRefused("No model is named. Name one, or set BENCHWRIGHT_LLM_MODEL.")
    run = GenerationRun(
        name=name,
        dataset=dataset,
        environment=environment,
        path=GenerationRun.Path.MODEL,
        base_url=settings.LLM_BASE_URL,
        prompts=prompts.versions(),
        created_by=by,
        **{**asdict(options), "model": model},
    )
    with transaction.atomic():
        _save(run)
        audit(by, "generation run made", f"generation:{run.name}", model=model, endpoint=_host(run.base_url))
    return run


def go_on(run: GenerationRun, *, wake: bool = True) -> int:
    """Wake workers for the fragments of a run that wait, and return how many do; a finished run goes on with them."""
    waiting = run.fragments.open().count()
    with transaction.atomic():
        if waiting:
            finished = GenerationRun.objects.filter(pk=run.pk, state=State.FINISHED)
            finished.update(state=State.RUNNING, finished_at=None)
        if wake:
            _wake()
    return waiting


def replay_run(recorded: GenerationRun, *, name: str, by: Any) -> GenerationRun:
    """Save a run over the same fragments that the recorded one's replies answer, offline. Raises RunRefused."""
    if recorded.path != GenerationRun.Path.MODEL:
        raise RunRefused(f"{recorded.name} asked no model, so there is nothing to replay. Start it again.")
    columns = {each: getattr(recorded, each) for each in COPIED}
    run = GenerationRun(
        name=name,
        dataset=recorded.dataset,
        environment=recorded.environment,
        replays=recorded.replays or recorded,
        created_by=by,
        **columns,
    )
    with transaction.atomic():
        _save(run)
        copies = [_copy_of(run, each) for each in recorded.fragments.order_by("number")]
        Fragment.objects.bulk_create(copies, batch_size=BATCH)
        audit(by, "generation replayed", f"generation:{run.name}", recorded=recorded.name)
    return run


def resume_run(
    run: GenerationRun,
    *,
    by: Any,
    budget_tokens: int | None = None,
    budget_micros: int | None = None,
    wake: bool = True,
) -> int:
    """Let a run go on, with a higher budget where one is given, and return how many fragments wait. Raises RunRefused.

    Fragments that were stopped by our fault are taken up again; what was accepted or rejected stays.
    """
    changes: dict[str, Any] = {}
    for field, value in (("budget_tokens", budget_tokens), ("budget_micros", budget_micros)):
        if value is not None:
            if value < getattr(run, field.replace("budget", "charged")):
                raise RunRefused("The budget is below what is spent already. Give a higher one.")
            changes[field] = value
    with transaction.atomic():
        stopped = run.fragments.filter(state=Fragment.State.STOPPED)
        stopped.update(state=Fragment.State.WAITING, tries=0, reason_code="", reason="", finished_at=None)
        GenerationRun.objects.filter(pk=run.pk).update(
            state=State.RUNNING, reason="", finished_at=None, **changes
        )
        audit(by, "generation resumed", f"generation:{run.name}", **changes)
        if wake:
            _wake()
    return run.fragments.open().count()


def halt_run(run: GenerationRun, *, by: Any) -> bool:
    """Stop a run at a curator's word, and return whether it was running; what is under way ends with its round."""
    with transaction.atomic():
        halted = stop_run(run, "Stopped by a curator. Resume it to go on.")
        if halted:
            audit(by, "generation stopped", f"generation:{run.name}")
    return halted


def _save(run: GenerationRun) -> None:
    try:
        with transaction.atomic():
            run.save()
    except IntegrityError as error:
        if GenerationRun.objects.filter(name=run.name).exists():
            raise RunRefused(f"There is a run {run.name} already. Choose another name.") from error
        raise


def _copy_of(run: GenerationRun, recorded: Fragment) -> Fragment:
    names = (
        "number",
        "source",
        "path",
        "function",
        "repository",
        "licence",
        "origin",
        "structure_hash",
        "touches",
    )
    copied = Fragment(run=run, **{each: getattr(recorded, each) for each in names})
    if recorded.state == Fragment.State.LEFT_OUT:
        copied.state, copied.reason_code, copied.reason = (
            recorded.state,
            recorded.reason_code,
            recorded.reason,
        )
    return copied


def _host(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def _wake() -> None:
    from examples.tasks import wake_generation

    wake_on_commit(wake_generation)
