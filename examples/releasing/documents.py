"""RELEASE: the documents of a frozen release: manifest, licences, card; text from facts, the same facts the same text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from django.db.models import Count

from examples.models import Check, Release, Split, Version
from examples.releasing.evidence import HumanRecord
from examples.releasing.facts import versions_of
from examples.releasing.gate import CONDITIONS
from examples.releasing.lines import BATCH
from examples.releasing.splitting import Placeable

MANIFEST, LICENCES, README, SUMS = "manifest.json", "LICENSES.md", "README.md", "SHA256SUMS"


class Text(Protocol):
    """What the manifest says of a split's file."""

    split: Split
    examples: int
    size_bytes: int
    digest: Any


class Manifest(NamedTuple):
    """The manifest as a value and as the text that is hashed."""

    value: dict[str, Any]
    text: str


def manifest(release: Release, texts: Sequence[Text], people: HumanRecord) -> Manifest:
    """Return what a release says of itself, in sorted keys: every line's hash, images, licences, checks, human numbers.

    Of a held-out split only counts and the hash of its file: who reads the manifest must not learn what is in it, nor
    be able to try whether an example that they have is.
    """
    versions = versions_of(release)
    rows = list(_rows(release))
    private = {text.split.name for text in texts if text.split.held_out}
    value = {
        "format": "benchwright-release/1",
        "name": release.name,
        "number": release.number,
        "frozen_at": release.frozen_at.isoformat() if release.frozen_at else "",
        "seed": release.seed,
        "canary": release.canary,
        "licence": release.licence,
        "notes": release.notes,
        "splits": {text.split.name: _split(text, rows) for text in texts},
        "examples": [row["public"] for row in rows if row["split"] not in private],
        "environments": _environments(release),
        "licences": dict(sorted(Counter(row["licence"] for row in rows).items())),
        "checks": _checks(release),
        "gate": {condition.slug: condition.title for condition in CONDITIONS},
        "human": {
            "all": [figure.as_json() for figure in people.figures(versions)],
            **{
                text.split.name: [
                    figure.as_json()
                    for figure in people.figures(versions.filter(release_items__split=text.split))
                ]
                for text in texts
            },
        },
    }
    return Manifest(value, json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n")


def _rows(release: Release) -> Iterator[dict[str, Any]]:
    """Yield what the manifest says of each item, and its licence and group."""
    items = release.items.order_by("position").values_list(
        "version_id",
        "version__example_id",
        "version__number",
        "version__content_hash",
        "version__example__repository",
        "version__example__licence",
        "version__example__dataset__licence",
        "version__environment__image_digest",
        "split__name",
        "sha256",
    )
    for pk, example, number, content, repository, own, licence, image, split, sha256 in items.iterator(BATCH):
        yield {
            "licence": own or licence,
            "group": Placeable(pk, example, repository).group,
            "split": split,
            "public": {
                "id": f"EX-{example:04d}@{number}",
                "split": split,
                "sha256": sha256,
                "content_hash": content,
                "image": image,
            },
        }


def _split(text: Text, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [row for row in rows if row["split"] == text.split.name]
    return {
        "file": f"{text.split.name}.jsonl",
        "share": text.split.share,
        "held_out": text.split.held_out,
        "examples": text.examples,
        "groups": len({row["group"] for row in own}),
        "size_bytes": text.size_bytes,
        "sha256": text.digest.hexdigest(),
    }


def _environments(release: Release) -> dict[str, Any]:
    """Return name, language and packages of each image, by digest."""
    rows = (
        Version.objects.filter(release_items__release=release)
        .order_by("environment__name")
        .values_list(
            "environment__image_digest",
            "environment__name",
            "environment__language",
            "environment__language_version",
            "environment__packages",
        )
    )
    return {
        digest: {"name": name, "language": language, "language_version": version, "packages": packages}
        for digest, name, language, version, packages in rows.iterator(BATCH)
    }


def _checks(release: Release) -> dict[str, dict[str, int]]:
    """Return how many versions each check found passed, failed, …"""
    rows = (
        Check.objects.filter(version__release_items__release=release)
        .order_by("name", "state")
        .values_list("name", "state")
        .annotate(number=Count("pk"))
    )
    counts: dict[str, dict[str, int]] = {}
    for name, state, number in rows:
        counts.setdefault(name, {})[state] = number
    return counts


def licences_text(value: Mapping[str, Any]) -> str:
    """Return LICENSES.md: every licence with its number of examples, and where to look for one example's."""
    lines = [f"# Licences of {value['name']} {value['number']}", ""]
    if value["licence"]:
        lines += [
            f"The selection as a whole: {value['licence']}. Each example stays under its own licence.",
            "",
        ]
    lines += ["| licence | examples |", "| --- | ---: |"]
    lines += [f"| {name.replace('|', ' ')} | {number} |" for name, number in value["licences"].items()]
    return "\n".join(
        [*lines, "", "Each line of a split says its own in `licence` and its origin in `provenance`.", ""]
    )


def readme_text(value: Mapping[str, Any]) -> str:
    """Return README.md: what this is, its splits, human numbers with n and interval, how to verify."""
    lines = [
        f"# {value['name']} {value['number']}",
        "",
        f"Frozen {value['frozen_at']}, seed {value['seed']}.",
    ]
    lines += ["", value["notes"].strip()] if value["notes"].strip() else []
    lines += ["", "| split | examples | repositories | |", "| --- | ---: | ---: | --- |"]
    lines += [
        f"| {name} | {split['examples']} | {split['groups']} | {'held out' if split['held_out'] else split['file']} |"
        for name, split in value["splits"].items()
    ]
    lines += ["", "## What people found", ""]
    lines += [f"- {_sentence(figure)}" for figure in value["human"]["all"]]
    lines += [
        "",
        "## Verify",
        "",
        f"`sha256sum -c {SUMS}` compares every file. `{MANIFEST}` has the hash of every line, the images by digest",
        "and the packages in them. Each line is one version: `context` with `reference` at byte `gap`, and the tests in",
        "`segments`. Every line holds this canary; leave files that hold it out of training data:",
        "",
        f"    {value['canary']}",
        "",
    ]
    return "\n".join(lines)


def _sentence(figure: Mapping[str, Any]) -> str:
    """Return a figure in words: never a share without its count and interval."""
    count = f"{figure['name']}: {figure['count']} of {figure['total']} {figure['denominator']}"
    if not figure["wilson"]:
        return f"{count}; share undefined"
    low, high = figure["wilson"]
    said = f"{count}, {100 * figure['count'] / figure['total']:.0f} % (95 % Wilson {100 * low:.0f} to {100 * high:.0f}"
    if figure["cluster"]:
        low, high = figure["cluster"]
        return f"{said}; over annotators {100 * low:.0f} to {100 * high:.0f})"
    return f"{said}; over annotators undefined: {figure['cluster_reason']})"
