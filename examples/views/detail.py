"""CURATE: an example's page, section by section, and the executions behind its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import F, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.checking.run import TITLES
from examples.editing import edit_of
from examples.models import AuditEntry, Example, Version
from examples.showing import shown_context
from examples.views.page import page_of, show
from runner.models import Execution

AUDIT_SHOWN = 30
ROWS_SHOWN = 300
# What else than a check an execution may be of, by its relation.
RESTS_ON = {
    "rerun": "comparison of environments",
    "trial": "trial of a solution",
    "alternative_run": "accepted alternative",
    "run": "run of an attempt",
}
PARTS = (
    ("Instruction", "instruction"),
    ("Tests", "tests"),
    ("Block that runs the tests", "block"),
    ("Reference", "reference"),
)


@require_GET
@curator_required
def example(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the checks with their evidence; asked again by the page while they run."""
    page = page_of(request, pk)
    if request.htmx and request.GET.get("seen") == page.seen:
        return HttpResponse(status=204)
    return show(request, page, "examples/example.html", partial="examples/_checks_changed.html")


@require_GET
@curator_required
def content(request: HttpRequest, pk: int) -> HttpResponse:
    """Show instruction, context, reference and tests."""
    page = page_of(request, pk)
    return show(
        request,
        page,
        "examples/content.html",
        context_part=shown_context(page.version),
        reference=edit_of(page.version).reference,
    )


@require_GET
@curator_required
def versions(request: HttpRequest, pk: int) -> HttpResponse:
    """Show all versions, and what changed between two of them: `?from=1&to=2`, by default the last step."""
    page = page_of(request, pk)
    all_versions = list(page.example.versions.select_related("author", "environment").order_by("-number"))
    by_number = {version.number: version for version in all_versions}
    newer = by_number.get(_number(request.GET.get("to", "")), page.version)
    older = by_number.get(_number(request.GET.get("from", "")), by_number.get(newer.number - 1))
    changes = changes_between(older, newer) if older and older != newer else []
    return show(
        request,
        page,
        "examples/versions.html",
        versions=all_versions,
        older=older,
        newer=newer,
        changes=changes,
    )


@require_GET
@curator_required
def verdicts(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what annotators said, on whichever version; people's app is known here by its relations only."""
    page = page_of(request, pk)
    told = (
        page.example.versions.filter(slots__attempts__verdict__isnull=False)
        .order_by("-number", "slots__attempts__verdict__created_at")
        .values(
            "number",
            pseudonym=F("slots__attempts__annotator__pseudonym"),
            outcome=F("slots__attempts__verdict__outcome"),
            solved=F("slots__attempts__verdict__solved"),
            difficulty=F("slots__attempts__verdict__difficulty"),
            instruction_quality=F("slots__attempts__verdict__instruction_quality"),
            test_quality=F("slots__attempts__verdict__test_quality"),
            attempt=F("slots__attempts__pk"),
            instruction_note=F("slots__attempts__verdict__instruction_note"),
            test_note=F("slots__attempts__verdict__test_note"),
            text=F("slots__attempts__verdict__text"),
            evidence=F("slots__attempts__verdict__evidence"),
            carried=F("slots__attempts__verdict__carried"),
            study=F("slots__study__name"),
        )
    )
    rows = []
    for row in told:
        said = (row["instruction_note"], row["test_note"], row["text"], row["evidence"])
        words = "\n\n".join(filter(None, said))
        rows.append({**row, "outcome": row["outcome"].replace("_", " "), "words": words})
    return show(request, page, "examples/verdicts.html", verdicts=rows)


@require_GET
@curator_required
def provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """Show where the example comes from, under which licence, and what was done to it by whom."""
    page = page_of(request, pk)
    subjects = [
        f"example:{page.example.pk}",
        *(f"version:{pk}" for pk in page.example.versions.values_list("pk", flat=True)),
    ]
    entries = AuditEntry.objects.filter(subject__in=subjects).select_related("person")[:AUDIT_SHOWN]
    libraries = page.example.libraries.all()
    return show(request, page, "examples/provenance.html", entries=entries, libraries=libraries)


@require_GET
@curator_required
def check_execution(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an execution that a check, a comparison or a judgement rests on: outcome, rows, output, facts.

    People's app is known here by its relations only.
    """
    seen = Example.objects.visible_to(request.user)
    checked = Q(checks__version__example__in=seen) | Q(rerun__comparison__version__example__in=seen)
    checked |= Q(trial__version__example__in=seen) | Q(alternative_run__version__example__in=seen)
    checked |= Q(run__attempt__slot__version__example__in=seen)
    found = Execution.objects.filter(checked).select_related("environment").distinct()
    execution = get_object_or_404(found, pk=pk)
    of = Q(checks__executions=execution) | Q(comparisons__reruns__execution=execution)
    of |= Q(trials__execution=execution) | Q(alternative_runs__execution=execution)
    of |= Q(slots__attempts__runs__execution=execution)
    version = Version.objects.filter(of).select_related("example__dataset").first()
    rows = execution.rows.all()[:ROWS_SHOWN]
    checks = [TITLES[name].lower() for name in execution.checks.values_list("name", flat=True)]
    checks = checks or [words for name, words in RESTS_ON.items() if hasattr(execution, name)]
    context = {
        "execution": execution,
        "version": version,
        "rows": rows,
        "checks": checks,
        "job": execution.job,
        "facts": list(_told(execution.facts)),
    }
    return render_page(request, "examples/check_execution.html", context)


def _told(facts: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and value of each recorded fact but the environment's, which the page tells; what holds others, apart."""
    for name, value in facts.items():
        words = f"{before} {name.replace('_', ' ')}".strip()
        if isinstance(value, dict):
            yield from _told(value, name.removesuffix("s"))
        elif name != "environment":
            yield words, {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value


def changes_between(older: Version, newer: Version) -> list[dict[str, Any]]:
    """Return what differs, part by part: title, language, the text before and after."""
    before, after = edit_of(older), edit_of(newer)
    changes: list[dict[str, Any]] = [
        {
            "title": title,
            "language": "text" if name == "instruction" else newer.language,
            "before": getattr(before, name),
            "after": getattr(after, name),
        }
        for title, name in PARTS
        if getattr(before, name) != getattr(after, name)
    ]
    if older.context != newer.context:
        changes.append(
            {"title": "Context", "language": newer.language, "before": older.context, "after": newer.context}
        )
    small = [
        ("Visible assertions", str(older.visible), str(newer.visible)),
        ("Environment", older.environment.name, newer.environment.name),
        ("Test functions that must pass", ", ".join(older.expected), ", ".join(newer.expected)),
    ]
    return changes + [
        {"title": title, "short": True, "before": was, "after": is_now}
        for title, was, is_now in small
        if was != is_now
    ]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
