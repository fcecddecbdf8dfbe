"""CURATE: which examples a list shows: search, filters, order, tabs with counts; read from a query string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Q

from examples.checking.run import TITLES
from examples.models import Example, ExampleQuerySet, Version

PAGE = 30
LABEL = re.compile(r"ex-?0*(\d{1,18})", re.IGNORECASE)
State = Version.CheckState
STATUSES = dict(Example.Status.choices)
CHECKS = {
    "passed": "all passed",
    "failed": "something failed",
    **{f"failed:{name}": f"failed: {title[0].lower()}{title[1:]}" for name, title in TITLES.items()},
    "open": "waiting or running",
    "unjudged": "unjudged",
}
STUDIES = {"open": "in a study now", "closed": "with closed attempts", "never": "in no study yet"}
SORTS = {
    "changed": ("changed last", ("-current_id",)),
    "oldest": ("imported first", ("pk",)),
    "title": ("by title", ("title", "pk")),
    "key": ("by dataset and key", ("dataset_id", "key")),
}
CHOICES: dict[str, Mapping[str, object]] = {
    "status": STATUSES,
    "checks": CHECKS,
    "study": STUDIES,
    "sort": SORTS,
}


class Removable(NamedTuple):
    """A filter in words, and the query string without it."""

    words: str
    without: str


class Tab(NamedTuple):
    """A way to look at the list: its name, how many examples it has, its query string, whether it is chosen."""

    label: str
    total: int
    query: str
    current: bool


@dataclass(frozen=True)
class Filters:
    """What was asked for; "" leaves a filter out."""

    q: str = ""
    status: str = ""
    checks: str = ""
    dataset: str = ""
    library: str = ""
    study: str = ""
    sort: str = ""

    @classmethod
    def read(cls, values: Mapping[str, str]) -> Filters:
        """Return the filters of a query string; what nobody knows is left out."""
        read = {
            name: values.get(name, "").replace("\0", "").strip()[:200] for name in cls.__dataclass_fields__
        }
        return cls(**{name: value for name, value in read.items() if value in CHOICES.get(name, (value,))})

    def query(self, **changed: str) -> str:
        """Return the query string, with some values changed; "" where nothing is asked for."""
        asked = {name: value for name, value in asdict(replace(self, **changed)).items() if value}
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def narrows(self) -> bool:
        """Whether anything but the order is asked for."""
        return replace(self, sort="") != Filters()

    @property
    def removable(self) -> list[Removable]:
        """The filters in words, each with the way to be rid of it."""
        told = {
            "q": f"\u201c{self.q}\u201d",
            "status": self.status,
            "checks": f"checks: {CHECKS.get(self.checks, '')}",
            "dataset": f"dataset {self.dataset}",
            "library": f"imports {self.library}",
            "study": STUDIES.get(self.study, ""),
        }
        return [
            Removable(words, self.query(**{name: ""})) for name, words in told.items() if getattr(self, name)
        ]


def matching(examples: ExampleQuerySet, filters: Filters) -> ExampleQuerySet:
    """Return those of the examples that the filters let through, none twice."""
    for word in filters.q.split():
        examples = examples.filter(_found(word))
    if filters.status:
        examples = examples.filter(status=filters.status)
    if filters.checks:
        examples = examples.filter(_checked(filters.checks))
    if filters.dataset:
        examples = examples.filter(dataset__name=filters.dataset)
    if filters.library:
        examples = examples.filter(libraries__name=filters.library)
    return _studied(examples, filters.study)


def ordered(examples: ExampleQuerySet, filters: Filters) -> ExampleQuerySet:
    """Return the examples in the order asked for; by default the one whose version is newest comes first."""
    return examples.order_by(*SORTS[filters.sort or "changed"][1])


def tabs(examples: ExampleQuerySet, filters: Filters) -> list[Tab]:
    """Return the tabs with their counts, under the filters that are not tabs themselves; in three queries."""
    rest = replace(filters, status="", checks="", study="")
    base = matching(examples, rest).order_by()
    by_status = dict(base.values_list("status").annotate(Count("pk")))
    apart = [State.PENDING, State.RUNNING, State.FAILED, State.UNJUDGED]
    by_state = dict(
        base.filter(current__check_state__in=apart).values_list("current__check_state").annotate(Count("pk"))
    )
    studied = _studied(base, "open").count()
    counted = [
        ("All", {}, sum(by_status.values())),
        *((name, {"status": name}, by_status.get(name, 0)) for name in STATUSES),
        (
            "being checked",
            {"checks": "open"},
            by_state.get(State.PENDING, 0) + by_state.get(State.RUNNING, 0),
        ),
        ("failed a check", {"checks": "failed"}, by_state.get(State.FAILED, 0)),
        ("unjudged", {"checks": "unjudged"}, by_state.get(State.UNJUDGED, 0)),
        ("in a study", {"study": "open"}, studied),
    ]
    chosen = {"status": filters.status, "checks": filters.checks, "study": filters.study}
    return [
        Tab(
            label.capitalize(), count, rest.query(**values), {**dict.fromkeys(chosen, ""), **values} == chosen
        )
        for label, values, count in counted
        if count or label not in ("unjudged", "in a study")
    ]


def _found(word: str) -> Q:
    """Return the condition for one word of a search: a label such as EX-0417, or a part of title, key, repository."""
    text = Q(title__icontains=word) | Q(key__icontains=word) | Q(repository__icontains=word)
    label = LABEL.fullmatch(word)
    return Q(pk=int(label[1])) if label else text


def _checked(wanted: str) -> Q:
    state, _, name = wanted.partition(":")
    if state == "open":
        return Q(current__check_state__in=[State.PENDING, State.RUNNING])
    found = Q(current__check_state=state)
    return found & Q(current__failed_checks__contains=name) if name else found


def _studied(examples: ExampleQuerySet, wanted: str) -> ExampleQuerySet:
    """Return those of a study state. Slots belong to people's app: known here by the name of their relation only."""
    everything = Example.objects.order_by()
    if wanted == "open":
        running = everything.filter(current__slots__study__state__in=["open", "paused"])
        return examples.filter(pk__in=running.values("pk"))
    if wanted == "closed":
        return examples.filter(pk__in=everything.filter(versions__slots__state="closed").values("pk"))
    if wanted == "never":
        return examples.exclude(pk__in=everything.filter(versions__slots__isnull=False).values("pk"))
    return examples
