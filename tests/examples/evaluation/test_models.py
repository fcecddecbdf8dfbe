"""Evaluations: what the database refuses, and who sees what."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from annotation.models import User
from examples.models import Evaluation, EvaluationItem, ModelSample, Release, Split
from tests.examples.evaluation.factories import make_evaluation, make_execution, make_sample
from tests.factories import make_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def split(curator: User) -> Split:
    """A split of a draft."""
    release = Release.objects.create(name="r", number="1.0.0", created_by=curator)
    return Split.objects.create(release=release, name="test", share=1)


@pytest.mark.parametrize(
    "fields",
    [
        {"dataset": None},
        {"samples_asked": 0},
        {"temperature": -0.1},
        {"top_p": 0},
        {"top_p": 1.01},
        {"max_tokens": 0},
        {"cpu_limit_seconds": 0},
    ],
)
def test_the_database_refuses_parameters_that_cannot_be(fields):
    version = make_version()
    with pytest.raises(IntegrityError), transaction.atomic():
        make_evaluation([version], **fields)


def test_an_evaluation_is_over_a_dataset_or_a_split_never_both(split):
    version = make_version()
    with pytest.raises(IntegrityError, match="evaluation_dataset_or_split"), transaction.atomic():
        make_evaluation([version], dataset=version.example.dataset, split=split)
    assert make_evaluation([version], split=split).dataset is None


def test_a_version_is_in_an_evaluation_once_and_its_samples_have_numbers():
    version = make_version()
    item = make_evaluation([version]).items.get()
    make_sample(item, 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_sample(item, 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_sample(item, 0)
    with pytest.raises(IntegrityError), transaction.atomic():
        EvaluationItem.objects.create(evaluation=item.evaluation, version=version, position=2)


def test_what_is_executed_has_the_key_of_what_was_executed():
    version = make_version()
    item = make_evaluation([version]).items.get()
    with pytest.raises(IntegrityError, match="modelsample_executed_has_key"), transaction.atomic():
        make_sample(item, execution=make_execution(version=version))


def test_samples_are_for_curators_and_results_for_readers_of_frozen_releases(
    split, curator, admin_user, reader, ann
):
    over_dataset = make_evaluation([make_version("one")])
    over_split = make_evaluation([make_version("two")], split=split)
    private = Split.objects.create(release=split.release, name="private", share=0, held_out=True)
    held_out = make_evaluation([make_version("three")], split=private)
    make_sample(over_split.items.get())
    seen = Evaluation.objects.visible_to
    for person in (curator, admin_user):
        assert set(seen(person)) == {over_dataset, over_split, held_out}
        assert ModelSample.objects.visible_to(person).count() == 1
    for person in (reader, ann, AnonymousUser()):
        assert not seen(person).exists()
        assert not ModelSample.objects.visible_to(person).exists()
    Release.objects.update(state="frozen", frozen_at="2026-01-01T00:00Z", manifest_sha256="0", canary="c")
    assert list(seen(reader)) == [over_split]
    assert not seen(ann).exists()
    assert not ModelSample.objects.visible_to(reader).exists()
