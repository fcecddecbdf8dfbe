"""The page of a person's tokens for the API."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import ApiToken
from annotation.release_forms import TokenForm
from annotation.tokens import TokenRefused, make_token, revoke
from config.access import reader_required
from config.http import HttpRequest, render_page


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """List one's tokens, or make one; the answer to that is the only page that ever shows it."""
    form = TokenForm(request.POST or None, user=request.user)
    made = ""
    if request.method == "POST" and form.is_valid():
        try:
            made = make_token(request.user, **form.cleaned_data)
        except TokenRefused as refused:
            form.add_error(None, str(refused))
        else:
            form = TokenForm(user=request.user)
    own = ApiToken.objects.filter(user=request.user).order_by("-created")
    context = {"form": form, "made": made, "tokens": own, "site": request.build_absolute_uri("/").rstrip("/")}
    return render_page(request, "annotation/tokens.html", context, status=422 if form.errors else 200)


@require_POST
@reader_required
def token_revoke(request: HttpRequest, key: str) -> HttpResponseBase:
    """Delete one of one's own tokens."""
    if revoke(request.user, key=key):
        messages.success(request, "The token is revoked: the next request that uses it gets 401.")
    return redirect("tokens")
