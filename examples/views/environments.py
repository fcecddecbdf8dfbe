"""CURATE: environments: the list, one with its packages and builds, a new one, what the Debian mirror offers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples import environments as asking
from examples.environments import NotAsked
from examples.forms import EnvironmentForm
from examples.models import Version
from runner.environments.resolving import read_lock
from runner.models import Build, Environment, Suite

VERSIONS_SHOWN = 30
BUILDS_SHOWN = 10


@require_GET
@curator_required
def environments(request: HttpRequest) -> HttpResponse:
    """Show all environments, and those that nothing names."""
    builds = Build.objects.defer("log")
    found = asking.with_use(Environment.objects.defer("log", "requirements"))
    context = {
        "environments": found.prefetch_related(Prefetch("builds", builds)),
        "unused": asking.unused().only("name", "size_bytes"),
    }
    return render_page(request, "examples/environments.html", context)


@require_GET
@curator_required
def environment(request: HttpRequest, name: str) -> HttpResponse:
    """Show an environment; asked again by its page while it is being built."""
    found = get_object_or_404(asking.with_use(Environment.objects.all()), name=name)
    builds = list(found.builds.defer("log")[:BUILDS_SHOWN])
    latest = builds[0] if builds else None
    moved = f"{latest.pk}-{latest.state}-{len(latest.log)}" if latest else "none"
    if request.htmx and request.GET.get("seen") == moved:
        return HttpResponse(status=204)
    versions = Version.objects.filter(environment=found).select_related("example").order_by("-pk")
    packages = read_lock(asking.requirements_of(found))
    context = {
        "environment": found,
        "latest": latest,
        "builds": builds,
        "moved": moved,
        "packages": packages,
        "unpinned": [] if packages else sorted(found.packages.items()),
        "versions": versions.only("number", "example_id", "example__title")[:VERSIONS_SHOWN],
        "asked": asking.asked_by(found),
        "log": latest.log if latest else found.log,
    }
    return render_page(request, "examples/environment.html", context, partial="examples/_environment.html")


@require_http_methods(["GET", "POST"])
@curator_required
def environment_new(request: HttpRequest) -> HttpResponse:
    """Show the form; take a new environment and let a worker build it."""
    if request.method != "POST":
        return _form(request, EnvironmentForm())
    form = EnvironmentForm(request.POST)
    if form.is_valid():
        try:
            made = asking.ask_environment(**form.cleaned_data, by=request.user)
        except NotAsked as refusal:
            for name, said in refusal.problems.items():
                form.add_error(name, said)
        else:
            return HttpResponseRedirect(reverse("environment", args=[made.name]))
    return _form(request, form, status=422)


@require_POST
@curator_required
def build_again(request: HttpRequest, name: str) -> HttpResponse:
    """Let the environment be built (again)."""
    found = get_object_or_404(Environment, name=name)
    asking.build_again(found, by=request.user)
    return HttpResponseRedirect(reverse("environment", args=[name]))


@require_http_methods(["GET", "POST"])
@curator_required
def suites(request: HttpRequest) -> HttpResponse:
    """Show the Pythons to choose from; a POST lets a worker look at the Debian mirror."""
    if request.method == "POST":
        asking.ask_suites()
    if not request.htmx:
        return HttpResponseRedirect(reverse("environment_new"))
    sent = request.POST if request.method == "POST" else request.GET
    form = EnvironmentForm(initial={"python": sent["python"]} if "python" in sent else None)
    return render_page(request, "examples/_pythons.html", {"form": form, **_offers()})


@require_POST
@curator_required
def remove_unused(request: HttpRequest) -> HttpResponse:
    """Remove the environments that were ticked, unless something names them by now."""
    names = request.POST.getlist("name")
    removed = asking.remove_unused(names, by=request.user)
    if removed:
        messages.success(
            request, f"Removed: {', '.join(removed)}. A worker takes their images off the engine."
        )
    if kept := sorted(set(names) - set(removed)):
        messages.warning(request, f"Kept: {', '.join(kept)}. A version, an execution or a build names them.")
    return HttpResponseRedirect(reverse("environments"))


def _form(request: HttpRequest, form: EnvironmentForm, *, status: int = 200) -> HttpResponse:
    context = {"form": form, **_offers()}
    return render_page(request, "examples/environment_new.html", context, status=status)


def _offers() -> dict[str, Any]:
    """Return the suites, and whether a worker is to look at one."""
    found = list(Suite.objects.all())
    return {"suites": found, "looking": any(suite.asked_at for suite in found)}
