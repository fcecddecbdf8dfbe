"""EVALUATE: what a person or a command names, a dataset or a split of a frozen release, is found or refused with words."""

from __future__ import annotations

from django.utils.text import slugify

from examples.evaluation.creating import EvaluationRefused
from examples.models import Dataset, Evaluation, Split
from runner.models import Environment

NAME_LIMIT = 100


def dataset_named(name: str) -> Dataset:
    """Return the dataset. Raises EvaluationRefused."""
    found = Dataset.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Dataset.objects.values_list("name", flat=True)[:10]) or "none"
        raise EvaluationRefused(f"There is no dataset {name!r}. There are: {known}.")
    return found


def split_named(text: str) -> Split:
    """Return the split that `NAME@NUMBER/SPLIT` names, such as solved@1.0.0/test. Raises EvaluationRefused."""
    release, _, split = text.partition("/")
    name, _, number = release.partition("@")
    found = Split.objects.filter(release__name=name, release__number=number, name=split)
    chosen = found.select_related("release").first()
    if chosen is None:
        raise EvaluationRefused(
            f"There is no split {text!r}. Write it as NAME@NUMBER/SPLIT, such as solved@1.0.0/test."
        )
    return chosen


def environment_named(name: str) -> Environment | None:
    """Return the built environment, None for "". Raises EvaluationRefused."""
    if not name:
        return None
    found = Environment.objects.built().filter(name=name).first()
    if found is None:
        raise EvaluationRefused(
            f"There is no built environment {name!r}. Build it, or leave each version its own."
        )
    return found


def evaluation_called(name: str) -> Evaluation:
    """Return the evaluation. Raises EvaluationRefused."""
    found = Evaluation.objects.filter(name=name).select_related("dataset", "split__release").first()
    if found is None:
        known = ", ".join(Evaluation.objects.values_list("name", flat=True)[:10]) or "none"
        raise EvaluationRefused(f"There is no evaluation {name!r}. There are: {known}.")
    return found


def default_name(model_name: str, over: Dataset | Split) -> str:
    """Return a name for an evaluation of the model over that."""
    where = f"{over.release.name}-{over.release.number}-{over.name}" if isinstance(over, Split) else over.name
    return slugify(f"{model_name}-{where}".replace("/", "-").replace(".", "-"))[:NAME_LIMIT]
