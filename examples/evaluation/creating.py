"""EVALUATE: what a model is measured over, under which rules; the versions are fixed when an evaluation is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from examples.models import Dataset, Evaluation, EvaluationItem, Example, Release, Split, Version, audit
from runner.models import Environment


class EvaluationRefused(Exception):
    """Why there is no such evaluation, and what helps."""


@dataclass(frozen=True)
class Rules:
    """How a model was asked, as far as it is known, and how its samples are judged.

    cpu_limit_seconds, environment  one for all versions; None leaves each version its own
    unchecked                       whether a dataset's versions take part before their checks have passed
    """

    samples_asked: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    cpu_limit_seconds: float | None = None
    environment: Environment | None = None
    unchecked: bool = False

    def columns(self) -> dict[str, Any]:
        """Return what an evaluation stores of them."""
        parameters = self.parameters | ({"unchecked": True} if self.unchecked else {})
        return {
            "samples_asked": self.samples_asked,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "parameters": parameters,
            "cpu_limit_seconds": self.cpu_limit_seconds,
            "environment": self.environment,
        }


def versions_over(over: Dataset | Split, *, unchecked: bool = False) -> list[Version]:
    """Return the versions an evaluation is made over, in order. Raises EvaluationRefused where there are none.

    Of a dataset the current versions of its examples, retired ones left out, whose checks passed unless `unchecked`; of
    a frozen release's split the versions in it.
    """
    if isinstance(over, Split):
        if over.release.state != Release.State.FROZEN:
            raise EvaluationRefused(
                f"{over.release} is a draft. Freeze it first: its versions may still change."
            )
        items = over.items.select_related("version__example__dataset", "version__environment")
        found = [item.version for item in items.order_by("position")]
    else:
        examples = over.examples.exclude(status=Example.Status.RETIRED).exclude(current=None)
        if not unchecked:
            examples = examples.usable()
        examples = examples.select_related("current__example__dataset", "current__environment")
        found = [example.current for example in examples.order_by("pk") if example.current is not None]
    if not found:
        raise EvaluationRefused(f"{over} has no version whose checks passed. Check its examples first.")
    return found


def create_evaluation(
    over: Dataset | Split, *, name: str, model_name: str, origin: str, rules: Rules, by: Any
) -> Evaluation:
    """Make an evaluation over a dataset or a frozen split as it stands now. Raises EvaluationRefused."""
    versions = versions_over(over, unchecked=rules.unchecked)
    _refuse_other_language(versions, rules.environment)
    where = {"split": over} if isinstance(over, Split) else {"dataset": over}
    try:
        with transaction.atomic():
            made = Evaluation.objects.create(
                name=name, model_name=model_name, origin=origin, created_by=by, **where, **rules.columns()
            )
            EvaluationItem.objects.bulk_create(
                EvaluationItem(evaluation=made, version=version, position=position)
                for position, version in enumerate(versions, start=1)
            )
            audit(by, "evaluation made", f"evaluation:{made.pk}", model=model_name, versions=len(versions))
    except IntegrityError as error:
        if Evaluation.objects.filter(name=name).exists():
            raise EvaluationRefused(f"There is an evaluation {name} already. Choose another name.") from error
        raise EvaluationRefused(f"Its rules cannot be kept: {error}.") from error
    return made


def evaluation_named(
    name: str, over: Dataset | Split, *, model_name: str, origin: str, rules: Rules, by: Any
) -> Evaluation:
    """Return the evaluation of that name, made where there is none. Raises EvaluationRefused where it is another's."""
    made = existing(name, over, model_name=model_name, rules=rules)
    if made is None:
        return create_evaluation(over, name=name, model_name=model_name, origin=origin, rules=rules, by=by)
    return made


def existing(name: str, over: Dataset | Split, *, model_name: str, rules: Rules) -> Evaluation | None:
    """Return the evaluation of that name, None where there is none. Raises EvaluationRefused where it is another's.

    What is said of the rules must be what stands there: a figure is of one way to ask and to judge.
    """
    made = Evaluation.objects.filter(name=name).select_related("dataset", "split__release").first()
    if made is None:
        return None
    wanted = {"model_name": model_name, "dataset": over, "split": None}
    if isinstance(over, Split):
        wanted |= {"dataset": None, "split": over}
    wanted |= {column: value for column, value in rules.columns().items() if value not in (None, {})}
    differs = [column for column, value in wanted.items() if getattr(made, column) != value]
    if differs:
        raise EvaluationRefused(
            f"Evaluation {name} is there with another {', '.join(differs)}. Give this one a name of its own."
        )
    return made


def _refuse_other_language(versions: list[Version], environment: Environment | None) -> None:
    strange = [version for version in versions if environment and version.language != environment.language]
    if environment and strange:
        raise EvaluationRefused(
            f"Environment {environment.name} is for {environment.language}, and {strange[0]} is "
            f"{strange[0].language}. Leave each version its own."
        )
