"""GENERATE: a fragment with its rounds; a curator edits a text and lets it go on, accepts, or rejects with a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.generation.deciding import (
    FragmentBusy,
    TextRefused,
    accept_fragment,
    edit_text,
    reject_fragment,
    take_up_again,
)
from examples.generation.standing import Standing
from examples.generation.tracing import shown_rounds, spent, stretches
from examples.generation.yields import yield_of
from examples.generation_forms import EditForm, RejectForm
from examples.models import Fragment, Round

WORDS = {"program": "Program", "tests": "Tests", "instruction": "Instruction"}


@require_GET
@curator_required
def fragment(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Show a fragment and its rounds; asked again by its page while it is being worked on."""
    found = _fragment(request, name, number)
    if request.htmx and request.GET.get("seen") == _moved(found):
        return HttpResponse(status=204)
    return _page(request, found, RejectForm())


@require_http_methods(["GET", "POST"])
@curator_required
def fragment_edit(request: HttpRequest, name: str, number: int, subject: str) -> HttpResponse:
    """Show one text of a fragment to be edited; save it as a round and let the fragment go on from there."""
    if subject not in Round.Subject.values:
        raise Http404
    found = _fragment(request, name, number)
    form = EditForm(
        request.POST if request.method == "POST" else None, initial={"text": _text(found, subject)}
    )
    if request.method == "POST" and form.is_valid():
        try:
            edit_text(found, subject=subject, text=form.cleaned_data["text"], by=request.user)
        except (TextRefused, FragmentBusy) as refusal:
            form.add_error("text", str(refusal))
        else:
            messages.success(request, f"{WORDS[subject]} saved. The fragment goes on from there.")
            return HttpResponseRedirect(_address(found))
    context = {"fragment": found, "run": found.run, "form": form, "subject": subject, "word": WORDS[subject]}
    return render_page(request, "examples/generation/edit.html", context, status=422 if form.errors else 200)


@require_POST
@curator_required
def fragment_accept(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Make an example of a fragment that held."""
    found = _fragment(request, name, number)
    try:
        example = accept_fragment(found, by=request.user)
    except FragmentBusy as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"Accepted as {example.label}. Its checks run by themselves.")
    return HttpResponseRedirect(_address(found))


@require_POST
@curator_required
def fragment_reject(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Reject a fragment with a reason."""
    found = _fragment(request, name, number)
    form = RejectForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    try:
        reject_fragment(found, reason=form.cleaned_data["reason"], by=request.user)
    except (FragmentBusy, TextRefused) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "Rejected.")
    return HttpResponseRedirect(_address(found))


@require_POST
@curator_required
def fragment_again(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Let a fragment that was rejected or stopped go on from its last round."""
    found = _fragment(request, name, number)
    try:
        take_up_again(found, by=request.user)
    except FragmentBusy as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "It goes on from its last round.")
    return HttpResponseRedirect(_address(found))


def _fragment(request: HttpRequest, name: str, number: int) -> Fragment:
    seen = Fragment.objects.visible_to(request.user).select_related(
        "run__dataset", "run__environment", "example"
    )
    found: Fragment = get_object_or_404(seen, run__name=name, number=number)
    return found


def _page(request: HttpRequest, found: Fragment, form: RejectForm, *, status: int = 200) -> HttpResponse:
    shown = shown_rounds(found)
    standing = Standing([each.round for each in shown])
    context: dict[str, Any] = {
        "fragment": found,
        "run": found.run,
        "rounds": shown,
        "steps": stretches(found, shown),
        "spent": spent(shown),
        "wishes": list(found.wishes.all()),
        "report": yield_of([found.run]),
        "moved": _moved(found),
        "form": form,
        "subjects": [(subject, WORDS[subject]) for subject in WORDS if getattr(standing, subject)],
    }
    return render_page(
        request,
        "examples/generation/fragment.html",
        context,
        partial="examples/generation/_fragment.html",
        status=status,
    )


def _text(found: Fragment, subject: str) -> str:
    """Return a text as it stands now: of the program, the source where nothing is there yet."""
    standing = Standing(list(found.rounds.order_by("number")))
    text: str = getattr(standing, subject)
    return text or (found.source if subject == "program" else "")


def _moved(found: Fragment) -> str:
    """Return what changes with every round, its execution and the fragment's state."""
    executed = found.rounds.exclude(execution=None).count()
    return f"{found.state}-{found.rounds.count()}-{executed}"


def _address(found: Fragment) -> str:
    return reverse("fragment", args=[found.run.name, found.number])
