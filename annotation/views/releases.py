"""Pages of releases: the list, a draft with its gate, a frozen release with its files."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.db.models import Count, Prefetch
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import evidence
from annotation.figures import line_of_json
from annotation.release_forms import DraftForm, LeaveOutForm
from config.access import curator_required, reader_required
from config.http import HttpRequest, render_page
from config.streaming import stream
from examples.models import Release, ReleaseFile, Split, audit
from examples.releasing.changes import changes_of
from examples.releasing.documents import LICENCES, MANIFEST, README, SUMS
from examples.releasing.download import file_chunks, sums, tar_chunks
from examples.releasing.drafting import DraftRefused, discard, draft_release, leave_out
from examples.releasing.facts import gate_report
from examples.releasing.freezing import GateClosed, freeze
from examples.releasing.gate import GateReport
from examples.releasing.numbering import NumberRefused
from examples.releasing.splitting import SharesRefused

CONTENT_TYPES = {MANIFEST: "application/json", LICENCES: "text/markdown", README: "text/markdown"}


@require_GET
@reader_required
def releases(request: HttpRequest) -> HttpResponse:
    """List the releases the person sees: readers what is frozen, curators the drafts too."""
    splits = Prefetch("splits", Split.objects.visible_to(request.user))
    seen = Release.objects.visible_to(request.user).select_related("created_by").prefetch_related(splits)
    found = seen.annotate(versions=Count("items")).order_by("name", "-pk")
    return render_page(request, "annotation/releases.html", {"releases": found})


@require_http_methods(["GET", "HEAD", "POST"])
@curator_required
def release_new(request: HttpRequest) -> HttpResponseBase:
    """Show the form of a draft, or make the draft."""
    form = DraftForm(request.POST or None, initial={"source": request.GET.get("source", "")})
    if request.method == "POST" and form.is_valid():
        try:
            release = draft_release(form.plan, versions=form.versions, by=request.user)
        except NumberRefused as refused:
            form.add_error("number", str(refused))
        except (DraftRefused, SharesRefused) as refused:
            form.add_error(None, str(refused))
        else:
            return redirect(address_of(release))
    published = Release.objects.frozen().order_by("name", "-frozen_at")
    context = {"form": form, "published": published}
    return render_page(request, "annotation/release_new.html", context, status=422 if form.errors else 200)


@require_GET
@reader_required
def release(request: HttpRequest, name: str, number: str) -> HttpResponse:
    """Show a draft with its gate, or a frozen release with its files."""
    found = get_object_or_404(Release.objects.visible_to(request.user), name=name, number=number)
    if found.state == Release.State.DRAFT:
        return _draft_page(request, found, gate_report(found, evidence))
    return _frozen_page(request, found)


@require_POST
@curator_required
def release_freeze(request: HttpRequest, name: str, number: str) -> HttpResponseBase:
    """Freeze a draft; where the gate is closed meanwhile, show which condition blocks."""
    found = get_object_or_404(Release.objects.visible_to(request.user), name=name, number=number)
    try:
        freeze(found, by=request.user, people=evidence)
    except GateClosed as closed:
        return _draft_page(request, found, closed.report, status=409)
    except (DraftRefused, NumberRefused) as refused:
        messages.error(request, str(refused))
    return redirect(address_of(found) if Release.objects.filter(pk=found.pk).exists() else "releases")


@require_POST
@curator_required
def release_leave_out(request: HttpRequest, name: str, number: str) -> HttpResponseBase:
    """Take the blocked versions that the curator saw out of a draft."""
    found = get_object_or_404(Release.objects.visible_to(request.user), name=name, number=number)
    form = LeaveOutForm(request.POST)
    try:
        if form.is_valid():
            gone = leave_out(found, versions=form.ids, by=request.user)
            messages.success(request, f"{gone} left out; the splits of the others are as before.")
        else:
            messages.error(request, "Nothing was left out: the request named no versions.")
    except DraftRefused as refused:
        messages.error(request, str(refused))
    return redirect(address_of(found))


@require_POST
@curator_required
def release_discard(request: HttpRequest, name: str, number: str) -> HttpResponseBase:
    """Delete a draft."""
    found = get_object_or_404(Release.objects.visible_to(request.user), name=name, number=number)
    try:
        discard(found, by=request.user)
    except DraftRefused as refused:
        messages.error(request, str(refused))
        return redirect(address_of(found))
    messages.success(request, f"The draft {found} is gone; its number is free again.")
    return redirect("releases")


@require_GET
@reader_required
def release_file(request: HttpRequest, name: str, number: str, file: str) -> HttpResponseBase:
    """Send one file of a frozen release, or its SHA256SUMS, byte for byte."""
    found = _frozen(request, name, number)
    files = found.files.visible_to(request.user)
    if file == SUMS:
        return HttpResponse(sums(files), content_type="text/plain; charset=utf-8")
    wanted = get_object_or_404(files, name=file)
    if wanted.split_id is not None:
        audit(request.user, "split downloaded", f"release:{found.pk}", file=file)
    return stream(
        request,
        file_chunks(wanted),
        content_type=CONTENT_TYPES.get(file, "application/x-ndjson") + "; charset=utf-8",
        filename=file,
        size_bytes=wanted.size_bytes,
        sha256=wanted.sha256,
    )


@require_GET
@reader_required
def release_tar(request: HttpRequest, name: str, number: str) -> HttpResponseBase:
    """Send all files the person may have, with their sums, as one tar."""
    found = _frozen(request, name, number)
    audit(request.user, "release downloaded", f"release:{found.pk}")
    return stream(
        request,
        tar_chunks(found, found.files.visible_to(request.user)),
        content_type="application/x-tar",
        filename=f"{name}-{number}.tar",
    )


def address_of(found: Release) -> str:
    """Return the address of a release's page."""
    return reverse("release", args=[found.name, found.number])


def _frozen(request: HttpRequest, name: str, number: str) -> Release:
    return get_object_or_404(Release.objects.visible_to(request.user).frozen(), name=name, number=number)


def _draft_page(
    request: HttpRequest, found: Release, report: GateReport, *, status: int = 200
) -> HttpResponse:
    labels = {each.version_id: each.label for line in report.lines for each in line.blocked}
    context = {
        "release": found,
        "report": report,
        "closed": report.closed,
        "met": len(report.lines) - len(report.closed),
        "blocked": list(labels.values()),
        "blocked_ids": ",".join(map(str, sorted(labels))),
        "left": report.total - len(labels),
        "splits": evidence.splits_of(found),
        "changes": changes_of(found),
    }
    return render_page(request, "annotation/release_draft.html", context, status=status)


def _frozen_page(request: HttpRequest, found: Release) -> HttpResponse:
    files = list(
        found.files.visible_to(request.user).select_related("split").defer("content").order_by("name")
    )
    manifest = json.loads(found.files.get(name=MANIFEST).content)
    private = {name for name, split in manifest["splits"].items() if split["held_out"]}
    context = {
        "release": found,
        "files": files,
        "size": sum(file.size_bytes for file in files),
        "manifest": manifest,
        "versions": sum(split["examples"] for split in manifest["splits"].values()),
        "splits": [
            {**manifest["splits"][name], "name": name, "human": line_of_json(manifest["human"][name][0])}
            for name in found.splits.order_by("pk").values_list("name", flat=True)
        ],
        "human": [line_of_json(figure) for figure in manifest["human"]["all"]],
        "hidden": bool(private) and not request.user.curates,
        "changes": changes_of(found),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "first": _first_split(files),
    }
    return render_page(request, "annotation/release.html", context)


def _first_split(files: list[ReleaseFile]) -> dict[str, Any]:
    """Return split and file that the page's example downloads, an open one first; nothing where there is none to see."""
    own = [file for file in files if file.split is not None]
    file = min(own, key=lambda file: bool(file.split and file.split.held_out), default=None)
    return {"split": file.name.removesuffix(".jsonl"), "file": file.name} if file else {}
