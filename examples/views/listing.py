"""CURATE: the list of examples, its live progress, what is done to many at once, and duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples import curating
from examples.browsing import CHECKS, PAGE, SORTS, STATUSES, STUDIES, Filters, matching, ordered, tabs
from examples.checking.run import TITLES
from examples.models import Dataset, Example, Library, Version
from examples.rows import LETTERS, MARKS, NOT_RUN, SOLVED, UNSOLVED, WORKING, patterns, rows

State = Version.CheckState
OPEN = [State.PENDING, State.RUNNING]
GROUPS = 50
LEGEND = [*MARKS.values(), NOT_RUN, SOLVED, UNSOLVED, WORKING]
DATASETS_OFFERED, LIBRARIES_OFFERED = 200, 40


@require_GET
@curator_required
def examples(request: HttpRequest) -> HttpResponse:
    """Show a page of the examples that the filters let through."""
    return _list(request, Filters.read(request.GET.dict()), _number(request.GET.get("page", "1")))


@require_GET
@curator_required
def progress(request: HttpRequest) -> HttpResponse:
    """Give the rows whose checks changed since the page saw them, what is still under way, and the counts of the tabs;
    nothing where all is the same.
    """
    seen = _seen(request.GET.get("seen", ""))
    now = dict(
        Example.objects.visible_to(request.user).filter(pk__in=seen).values_list("pk", "current__check_state")
    )
    changed = [pk for pk, state in now.items() if state != seen[pk]]
    waiting = _waiting()
    if not changed and request.GET.get("waiting") == str(waiting):
        return HttpResponse(status=204)
    left = {pk: state for pk, state in now.items() if state in OPEN}
    filters = Filters.read(request.GET.dict())
    context = {
        "changed": rows(changed),
        "open": _told(left),
        "shown": len(left),
        "waiting": waiting,
        "query": filters.query(),
        "tabs": tabs(Example.objects.visible_to(request.user), filters),
    }
    return render_page(request, "examples/_progress.html", context)


@require_POST
@curator_required
def act(request: HttpRequest) -> HttpResponse:
    """Accept, retire or check again the chosen examples, or all that the filters let through."""
    filters = Filters.read(QueryDict(request.POST.get("query", "").removeprefix("?")).dict())
    found = Example.objects.visible_to(request.user)
    if request.POST.get("everything"):
        ids = list(matching(found, filters).order_by("pk").values_list("pk", flat=True))
    else:
        ids = _ids(found, request.POST.getlist("ids"))
    action = request.POST.get("action", "")
    page = _number(request.POST.get("page", "1"))
    if action not in ("accept", "retire", "check"):
        return HttpResponseBadRequest("action is one of accept, retire, check")
    if not ids:
        return _list(
            request, filters, page, refusal="Choose examples first: tick their boxes, or all that match."
        )
    if action == "retire" and not request.POST.get("reason", "").strip():
        refusal = "Say why they are retired: the reason is shown wherever they are missed."
        return _list(
            request,
            filters,
            page,
            refusal=refusal,
            chosen=ids,
            everything=bool(request.POST.get("everything")),
        )
    _tell(request, action, _done(request, action, ids))
    return HttpResponseRedirect(reverse("examples") + _page_query(filters, page))


@require_GET
@curator_required
def duplicates(request: HttpRequest) -> HttpResponse:
    """Show the groups of examples whose current versions have one content, the largest first."""
    page = _number(request.GET.get("page", "1"))
    current = Version.objects.filter(current_of__in=Example.objects.visible_to(request.user))
    groups = (
        current.order_by()
        .values("content_hash")
        .annotate(size=Count("pk"))
        .filter(size__gt=1)
        .order_by("-size", "content_hash")
    )
    start = (page - 1) * GROUPS
    hashes = [group["content_hash"] for group in groups[start : start + GROUPS + 1]]
    shown = (
        Example.objects.filter(current__content_hash__in=hashes[:GROUPS])
        .select_related("dataset", "current")
        .only(
            "title",
            "key",
            "status",
            "dataset__name",
            "current__content_hash",
            "current__number",
            "current__example",
        )
        .order_by("pk")
    )
    by_hash: dict[str, list[Example]] = {digest: [] for digest in hashes[:GROUPS]}
    for example in shown:
        if example.current:
            by_hash[example.current.content_hash].append(example)
    context = {"groups": by_hash.items(), "page": page, "more": len(hashes) > GROUPS}
    return render_page(request, "examples/duplicates.html", context)


def _list(
    request: HttpRequest,
    filters: Filters,
    page: int,
    *,
    refusal: str = "",
    chosen: Sequence[int] = (),
    everything: bool = False,
) -> HttpResponse:
    """Return the list; with a refusal as 422, what was chosen still chosen."""
    found = Example.objects.visible_to(request.user)
    counted = tabs(found, filters)
    total = _total(found, filters, {tab.query: tab.total for tab in counted})
    last = max(1, -(-total // PAGE))
    page = min(page, last)
    start = (page - 1) * PAGE
    ids = list(ordered(matching(found, filters), filters).values_list("pk", flat=True)[start : start + PAGE])
    shown = rows(ids)
    under_way = {row.example.pk: row.version.check_state for row in shown if row.is_open and row.version}
    context: dict[str, Any] = {
        "filters": filters,
        "query": filters.query(),
        "tabs": counted,
        "total": total,
        "rows": shown,
        "patterns": patterns(shown),
        "first": start + 1,
        "last": start + len(shown),
        "page": page,
        "previous": _page_query(filters, page - 1) if page > 1 else "",
        "next": _page_query(filters, page + 1) if page < last else "",
        "open": _told(under_way),
        "shown": len(under_way),
        "waiting": _waiting() if under_way else 0,
        "legend": LEGEND,
        "letters": [(LETTERS[name], title) for name, title in TITLES.items()],
        "refusal": refusal,
        "chosen": set(chosen),
        "everything": everything,
        **_choices(),
    }
    return render_page(request, "examples/examples.html", context, status=422 if refusal else 200)


def _choices() -> dict[str, Any]:
    """Return what the filters offer."""
    datasets = Dataset.objects.values_list("name", flat=True)[:DATASETS_OFFERED]
    libraries = Library.objects.filter(standard=False).values_list("name", flat=True)[:LIBRARIES_OFFERED]
    return {
        "statuses": STATUSES,
        "checks": CHECKS,
        "studies": STUDIES,
        "sorts": {name: words for name, (words, _) in SORTS.items()},
        "datasets": list(datasets),
        "libraries": list(libraries),
    }


def _total(found: Any, filters: Filters, counts: dict[str, int]) -> int:
    """Return how many match; a tab that is exactly this view has counted them already."""
    known = counts.get(filters.query())
    return matching(found, filters).count() if known is None else known


def _page_query(filters: Filters, page: int) -> str:
    query = filters.query()
    if page == 1:
        return query or "?"
    return f"{query}&page={page}" if query else f"?page={page}"


def _number(text: str) -> int:
    return max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1


def _ids(found: Any, texts: Sequence[str]) -> list[int]:
    """Return those of the sent ids that the person may browse."""
    asked = [int(text) for text in texts if text.isdecimal() and len(text) < 19]
    return list(found.filter(pk__in=asked[: 10 * PAGE]).values_list("pk", flat=True))


def _seen(text: str) -> dict[int, str]:
    """Return the states that a page says it shows, by example: "12.pending-13.running"."""
    pairs = [part.partition(".") for part in text[:2000].split("-")]
    return {int(pk): state for pk, _, state in pairs if pk.isdecimal() and len(pk) < 19}


def _told(states: dict[int, str]) -> str:
    return "-".join(f"{pk}.{state}" for pk, state in states.items())


def _waiting() -> int:
    """Return how many versions wait for their checks or are being checked, on whatever page."""
    return Version.objects.filter(check_state__in=OPEN).count()


def _done(request: HttpRequest, action: str, ids: Sequence[int]) -> curating.Done:
    if action == "accept":
        return curating.accept_all(ids, by=request.user)
    if action == "retire":
        return curating.retire_all(ids, reason=request.POST.get("reason", ""), by=request.user)
    return curating.check_all(ids, by=request.user)


def _tell(request: HttpRequest, action: str, done: curating.Done) -> None:
    """Say what was done, and why not to the rest."""
    words = {"accept": "accepted", "retire": "retired", "check": "waiting to be checked again"}[action]
    refused = [f"{count} not, since {reason}" for reason, count in done.refused.items() if count]
    said = "; ".join(
        [f"{done.changed} {'example is' if done.changed == 1 else 'examples are'} {words}", *refused]
    )
    (messages.warning if refused else messages.success)(request, said + ".")
