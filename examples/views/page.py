"""CURATE: what every section of an example's page needs: the example, the version looked at, its head and tabs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse

from config.http import HttpRequest, render_page
from examples.checking import canaries
from examples.curating import MOST_REPEATS, why_not
from examples.forms import REPEATS_OFFERED, LicenceForm, RepeatForm, RetireForm
from examples.models import Check, Example, Repeats, Version
from examples.rows import STATUS_MARKS, Mark
from examples.showing import CheckShown, Miss, TestsShown, misses, shown_checks, shown_tests, summary

State = Version.CheckState
DUPLICATES_SHOWN = 10
SECTIONS = (
    ("Checks", "example"),
    ("Content", "example_content"),
    ("Versions", "example_versions"),
    ("Environments", "example_rerun"),
    ("Verdicts", "example_verdicts"),
    ("Provenance", "example_provenance"),
)
SECTION_OF = {f"examples/{name.removeprefix('example_')}.html": label for label, name in SECTIONS}


@dataclass(frozen=True)
class Page:
    """An example and the version of it that is looked at; the rest is asked of the database when a template reads it."""

    example: Example
    version: Version

    @property
    def is_current(self) -> bool:
        """Whether the newest version is looked at."""
        return self.version.pk == self.example.current_id

    @property
    def query(self) -> str:
        """What keeps an older version chosen from section to section."""
        return "" if self.is_current else f"?version={self.version.number}"

    @property
    def is_open(self) -> bool:
        """Whether the version waits for its checks, or they run."""
        return self.version.check_state in (State.PENDING, State.RUNNING)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of all versions."""
        return list(self.example.versions.order_by("number").values_list("number", flat=True))

    @cached_property
    def checks(self) -> list[CheckShown]:
        """The checks in their order."""
        prefetch_related_objects([self.version], "checks")
        return shown_checks(self.version)

    @cached_property
    def canary(self) -> Check | None:
        """Whether a canary confirms what passes this version's tests; None before its first check."""
        prefetch_related_objects([self.version], "checks")
        return next((check for check in self.version.checks.all() if check.name == canaries.NAME), None)

    @property
    def summary(self) -> Mark:
        """One sign for all checks."""
        return summary(self.checks)

    @cached_property
    def tests(self) -> TestsShown:
        """The tests, with the border between visible and hidden."""
        return shown_tests(self.version)

    @property
    def status(self) -> Mark:
        """The sign of the example's status."""
        return STATUS_MARKS[Example.Status(self.example.status)]

    @property
    def refusal(self) -> str:
        """Why the example may not be accepted, "" when it may."""
        return why_not(self.example.current)

    @property
    def may_accept(self) -> bool:
        """Whether accepting would do something."""
        return not self.refusal and self.example.status != Example.Status.ACCEPTED

    @property
    def ahead(self) -> int:
        """How many versions were there before this one to be checked."""
        return Version.objects.filter(check_state=State.PENDING, pk__lt=self.version.pk).count()

    @cached_property
    def repeats_asked(self) -> Repeats | None:
        """The request for more repeats that has no result yet."""
        return self.version.repeats.open().first()

    @property
    def is_live(self) -> bool:
        """Whether more is to come, so that the page asks again."""
        return self.is_open or self.repeats_asked is not None

    @property
    def seen(self) -> str:
        """What the checks panel shows, in short; the page says it when it asks again."""
        made = max((f"{shown.check.checked_at:%H%M%S%f}" for shown in self.checks if shown.check), default="")
        ahead = self.ahead if self.version.check_state == State.PENDING else ""
        asked = self.repeats_asked.pk if self.repeats_asked else ""
        return f"{self.version.check_state}-{made}-{ahead}-{asked}"

    @cached_property
    def repeats(self) -> int:
        """How many executions of the reference there are."""
        stable = next((shown.check for shown in self.checks if shown.name == "stable"), None)
        return int(stable.evidence.get("repeats", 0)) if stable else 0

    @property
    def repeats_then(self) -> int:
        """How many there would be with the number that the form offers."""
        return self.repeats + REPEATS_OFFERED

    @property
    def misses(self) -> list[Miss]:
        """With which chance flakes are missed by the repeats there are, and by those there would be."""
        return misses(self.repeats, REPEATS_OFFERED)

    @cached_property
    def verdict_count(self) -> int:
        """How many verdicts there are on any version."""
        return self.example.versions.filter(slots__attempts__verdict__isnull=False).count()

    @cached_property
    def duplicates(self) -> list[Example]:
        """Other examples whose current version has the same content."""
        same = Example.objects.filter(current__content_hash=self.version.content_hash).exclude(
            pk=self.example.pk
        )
        shown = same.select_related("dataset").only("title", "key", "status", "dataset__name")
        return list(shown[:DUPLICATES_SHOWN])

    @property
    def tabs(self) -> list[tuple[str, str, int | None]]:
        """Label, address and count of each section."""
        counts = {"Checks": len(self.checks), "Versions": len(self.numbers), "Verdicts": self.verdict_count}
        return [
            (label, reverse(name, args=[self.example.pk]) + self.query, counts.get(label))
            for label, name in SECTIONS
        ]

    @property
    def adjudication(self) -> str:
        """The address where the version is adjudicated, "" where there is no such page or nobody met the version."""
        try:
            return reverse("adjudicate", kwargs={"version": self.version.pk}) if self.verdict_count else ""
        except NoReverseMatch:
            return ""


def page_of(request: HttpRequest, pk: int) -> Page:
    """Return the page of an example that the person may browse; `?version=2` looks at an older version. Else 404."""
    found = Example.objects.visible_to(request.user).select_related(
        "dataset", "current__environment", "current__author"
    )
    example = get_object_or_404(found, pk=pk)
    number = request.GET.get("version", "")
    if not number:
        if example.current is None:
            raise Http404
        return Page(example, example.current)
    if not number.isdecimal() or len(number) > 9:
        raise Http404
    versions = example.versions.select_related("environment", "author")
    return Page(example, get_object_or_404(versions, number=int(number)))


def show(
    request: HttpRequest,
    page: Page,
    template: str,
    *,
    partial: str | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Return a section of the page, with the forms that stand beside it unless the context brings its own."""
    forms = {
        "section": SECTION_OF.get(template, ""),
        "repeat_form": RepeatForm(),
        "retire_form": RetireForm(),
        "licence_form": LicenceForm(initial={"licence": page.example.licence}),
        "most_repeats": MOST_REPEATS,
    }
    return render_page(request, template, {"page": page, **forms, **context}, partial=partial, status=status)
