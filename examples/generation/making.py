"""ACCEPTANCE: program and tests as a version that is not saved yet, its jobs, and the example it becomes."""

from __future__ import annotations

import ast
from typing import Any

from django.db import transaction

from examples.generation.rules.tests import functions_of_tests
from examples.importing.base import content_hash, libraries_of, segments_as_json, third_party, title_of
from examples.jobs import LONGEST, empty_program, reference_program, segments_of
from examples.languages.python import source as python
from examples.masking import Segment, mask, test_source
from examples.models import Dataset, Example, Fragment, Library, Version
from examples.visible import default_count, visible_part
from runner.sandbox.base import Job, Limits


def draft_of(fragment: Fragment, *, program: str, tests: str, instruction: str = "") -> Version:
    """Return what the fragment would become, unsaved: the program with its focal function open, the tests behind it.

    Raises masking.MaskingError where the function cannot be opened, python.SourceInvalid or python.FunctionNotFound.
    """
    tree = python.parse(tests)
    names = [node.name for node in functions_of_tests(tree)]
    masked = mask(program.rstrip() + "\n\n\n", fragment.function, test_names=names)
    segments = [*masked.tests, *_pieces(tests, tree, names, len(masked.context.encode()))]
    content: dict[str, Any] = {
        "language": "python",
        "instruction": instruction,
        "context": masked.context,
        "gap": masked.gap,
        "reference": masked.reference,
        "segments": segments_as_json(segments),
        "block": "",
        "expected": names,
        "visible": default_count(tree, names),
    }
    return Version(
        example=_example_of(fragment),
        number=1,
        environment=fragment.run.environment,
        focal_name=fragment.function,
        content_hash=content_hash(**content),
        note=f"Made by generation run {fragment.run.name}.",
        **content,
    )


def job_of(draft: Version, *, empty: bool = False, seed: int = 0) -> Job:
    """Return the job that runs all tests on a draft's reference, or on an empty body; for curators, so it is revealed."""
    own = draft.example.dataset.cpu_limit_seconds
    return Job(
        program=empty_program(draft) if empty else reference_program(draft),
        tests=test_source(segments_of(draft)),
        expected=tuple(draft.expected),
        limits=Limits.for_cpu(own or LONGEST),
        revealed=True,
        seed=seed,
        watch_network=True,
    )


def hidden_and_shown(draft: Version) -> tuple[str, str]:
    """Return the tests that annotators do not see, and all that they see: the context and the visible tests."""
    tests = test_source(segments_of(draft))
    shown = visible_part(tests, draft.expected, draft.block, count=draft.visible)
    return tests, draft.context + "\n" + shown.text


def create_example(fragment: Fragment, draft: Version) -> Example:
    """Save a draft as a new example with its first version, which waits for its checks."""
    tests = test_source(segments_of(draft))
    libraries = libraries_of(python.parse(reference_program(draft)), python.parse(tests))
    with transaction.atomic():
        example = _example_of(fragment)
        example.save()
        draft.example = example
        draft.author = fragment.run.created_by
        draft.save()
        example.current = draft
        example.save(update_fields=["current"])
        standard = set(libraries).difference(third_party(libraries))
        Library.objects.bulk_create(
            (Library(name=name[:100], standard=name in standard) for name in libraries), ignore_conflicts=True
        )
        example.libraries.set(Library.objects.filter(name__in=libraries))
    return example


def _example_of(fragment: Fragment) -> Example:
    run, dataset = fragment.run, fragment.run.dataset
    return Example(
        dataset=dataset,
        key=f"{run.name}-{fragment.number}",
        title=title_of(fragment.function, fragment.repository),
        repository=fragment.repository,
        licence=fragment.licence if _differs(fragment.licence, dataset) else "",
        provenance={
            "format": "generation",
            "run": run.name,
            "path": run.path,
            "model": run.model,
            "prompts": run.prompts,
            "fragment": fragment.number,
            "file": fragment.path,
            "origin": fragment.origin,
        },
    )


def _differs(licence: str, dataset: Dataset) -> bool:
    return bool(licence) and licence != dataset.licence


def _pieces(tests: str, tree: ast.Module, names: list[str], offset: int) -> list[Segment]:
    """Return the tests cut behind each function, so that every byte of them stays: imports lie with the first."""
    positions = python.Positions(tests)
    pieces, at = [], 0
    for node in tree.body:
        if isinstance(node, python.FUNCTIONS) and node.name in names:
            end = positions.starts[node.end_lineno or node.lineno]
            pieces.append(Segment(offset, positions.data[at:end].decode(), "function", node.name))
            at = end
    rest = positions.data[at:].decode()
    last = pieces[-1]
    return [*pieces[:-1], Segment(offset, last.text + rest, "function", last.name)]
