"""Dataset, Example, Version, Check, Split, Release: what an example is, what was found out about it, what was published."""

from __future__ import annotations

from examples.models.alternative import Alternative, AlternativeQuerySet, AlternativeRun
from examples.models.auditing import AuditEntry, audit
from examples.models.check import Check, Comparison, Repeats, RepeatsQuerySet, Rerun
from examples.models.dataset import Dataset, Library
from examples.models.evaluation import (
    Evaluation,
    EvaluationItem,
    EvaluationQuerySet,
    ModelSample,
    ModelSampleQuerySet,
)
from examples.models.example import Example, ExampleQuerySet, Version
from examples.models.generation import (
    Call,
    Fragment,
    FragmentQuerySet,
    GenerationRun,
    GenerationRunQuerySet,
    PackageWish,
    Round,
    Step,
)
from examples.models.release import (
    Release,
    ReleaseFile,
    ReleaseFileQuerySet,
    ReleaseItem,
    ReleaseQuerySet,
    Split,
    SplitQuerySet,
)
from examples.models.report import ImportProblem, ImportReport

__all__ = [
    "Alternative",
    "AlternativeQuerySet",
    "AlternativeRun",
    "AuditEntry",
    "Call",
    "Check",
    "Comparison",
    "Dataset",
    "Evaluation",
    "EvaluationItem",
    "EvaluationQuerySet",
    "Example",
    "ExampleQuerySet",
    "Fragment",
    "FragmentQuerySet",
    "GenerationRun",
    "GenerationRunQuerySet",
    "ImportProblem",
    "ImportReport",
    "Library",
    "ModelSample",
    "ModelSampleQuerySet",
    "PackageWish",
    "Release",
    "ReleaseFile",
    "ReleaseFileQuerySet",
    "ReleaseItem",
    "ReleaseQuerySet",
    "Repeats",
    "RepeatsQuerySet",
    "Rerun",
    "Round",
    "Split",
    "SplitQuerySet",
    "Step",
    "Version",
    "audit",
]
