"""EVALUATE: the options that commands over an evaluation share: what it is over, and how it is judged."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser
from django.core.validators import validate_slug

from examples.evaluation.choosing import dataset_named, default_name, environment_named, split_named
from examples.evaluation.creating import EvaluationRefused, Rules
from examples.models import Dataset, Split


def add_options(parser: CommandParser) -> None:
    """Take what the evaluation is over, its model and name, how the model is asked, and how it is judged."""
    over = parser.add_mutually_exclusive_group(required=True)
    over.add_argument("--dataset", default="", help="over a dataset's current versions")
    over.add_argument("--release", default="", help="over a frozen release's split: NAME@NUMBER/SPLIT")
    parser.add_argument("--model", required=True, help="the model's own name")
    parser.add_argument("--name", default="", help="the evaluation's name; else made of model and dataset")
    parser.add_argument("--n", type=int, help="samples for an example")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--top-p", type=float)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument(
        "--cpu-limit", type=float, help="seconds of CPU for every sample; else each version's own limit"
    )
    parser.add_argument("--environment", default="", help="one environment for all; else each version's own")
    parser.add_argument(
        "--unchecked", action="store_true", help="take a dataset's versions before their checks passed"
    )


def over_of(options: dict[str, Any]) -> Dataset | Split:
    """Return what the options name. Raises EvaluationRefused."""
    return dataset_named(options["dataset"]) if options["dataset"] else split_named(options["release"])


def name_of(options: dict[str, Any], over: Dataset | Split) -> str:
    """Return the evaluation's name. Raises EvaluationRefused."""
    name = options["name"] or default_name(options["model"], over)
    try:
        validate_slug(name)
    except ValidationError as error:
        raise EvaluationRefused(f"--name {name!r}: use letters, digits, - and _ only.") from error
    return str(name)


def rules_of(options: dict[str, Any], **parameters: Any) -> Rules:
    """Return the rules the options say; `parameters` are recorded beside them. Raises EvaluationRefused."""
    return Rules(
        samples_asked=options["n"],
        temperature=options["temperature"],
        top_p=options["top_p"],
        max_tokens=options["max_tokens"],
        parameters=parameters,
        cpu_limit_seconds=options["cpu_limit"],
        environment=environment_named(options["environment"]),
        unchecked=options["unchecked"],
    )
