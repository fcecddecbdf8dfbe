"""CURATE: packages that replies asked for: a curator makes an environment with packages of their own naming, or refuses."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.environments import NotAsked
from examples.forms import EnvironmentForm
from examples.generation.wishes import WishDecided, approve_wish, refuse_wish
from examples.models import Fragment, PackageWish
from runner.models import Suite


@require_http_methods(["GET", "POST"])
@curator_required
def package_wish(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a reply asked for; refuse it (`action=refuse`), or ask for an environment with approved packages.

    The form begins empty: what the reply wrote may name a package that a stranger registered for such replies.
    """
    seen = PackageWish.objects.filter(fragment__in=Fragment.objects.visible_to(request.user))
    wish = get_object_or_404(seen.select_related("fragment__run", "environment"), pk=pk)
    form = EnvironmentForm(request.POST if request.POST.get("action") == "approve" else None)
    try:
        if request.POST.get("action") == "refuse":
            refuse_wish(wish, by=request.user)
            messages.success(request, f"{wish.package} is refused.")
            return HttpResponseRedirect(_fragment(wish))
        if form.is_valid():
            made = approve_wish(wish, **form.cleaned_data, by=request.user)
            return HttpResponseRedirect(reverse("environment", args=[made.name]))
    except NotAsked as refusal:
        for name, said in refusal.problems.items():
            form.add_error(name, said)
    except WishDecided:
        messages.error(request, f"Somebody has decided about {wish.package} already.")
        return HttpResponseRedirect(_fragment(wish))
    suites = list(Suite.objects.all())
    context = {"wish": wish, "form": form, "suites": suites, "looking": any(each.asked_at for each in suites)}
    return render_page(request, "examples/generation/wish.html", context, status=422 if form.errors else 200)


def _fragment(wish: PackageWish) -> str:
    return reverse("fragment", args=[wish.fragment.run.name, wish.fragment.number])
