"""ACCOUNTS: one's own, those of others for admins, invitations, and the page an invitation's link leads to."""

from __future__ import annotations

from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts import (
    AccountRefused,
    change_role,
    create_account,
    one_time_password,
    reset_password,
    set_active,
)
from annotation.forms.accounts import AcceptForm, AnswerForm, InvitationForm, NewAccountForm, SignUpForm
from annotation.invitations import InvitationOver, accept_invitation, find_invitation, invite, withdraw
from annotation.models import Invitation, SignUp, User
from annotation.signing_up import answer, sign_up, waiting
from config.access import Role, admin_required, curator_required
from config.http import HttpRequest, render_page
from examples.models import audit

INVITATIONS_SHOWN = 100


@require_GET
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show one's own account: pseudonym, role, password and second factor."""
    return render_page(request, "annotation/account.html")


@require_GET
@admin_required
def people(request: HttpRequest) -> HttpResponse:
    """List the accounts, with what an admin can do to each."""
    return _people(request)


def _people(
    request: HttpRequest,
    *,
    form: NewAccountForm | None = None,
    secret: str = "",
    of: User | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page of accounts; `secret` is the one-time password of `of`, shown this once."""
    context = {
        "people": User.objects.order_by("-is_active", "role", "pseudonym"),
        "roles": Role.choices,
        "form": form or NewAccountForm(),
        "secret": secret,
        "of": of,
    }
    return render_page(request, "annotation/people.html", context, status=status)


@require_POST
@admin_required
def person_new(request: HttpRequest) -> HttpResponse:
    """Make an account with a one-time password, and show that once."""
    form = NewAccountForm(request.POST)
    if not form.is_valid():
        return _people(request, form=form, status=422)
    password = one_time_password()
    user = create_account(
        username=form.cleaned_data["username"],
        role=Role(form.cleaned_data["role"]),
        password=password,
        must_change=True,
    )
    audit(request.user, "make account", f"user:{user.pk}", role=user.role)
    return _people(request, secret=password, of=user)


@require_POST
@admin_required
def person_reset(request: HttpRequest, pk: int) -> HttpResponse:
    """Give an account a one-time password, and show that once."""
    person = get_object_or_404(User, pk=pk)
    return _people(request, secret=reset_password(person, by=request.user), of=person)


@require_POST
@admin_required
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Change an account's role."""
    person = get_object_or_404(User, pk=pk)
    if request.POST.get("role") not in Role.values:
        raise Http404
    try:
        change_role(person, Role(request.POST["role"]), by=request.user)
        messages.success(request, f"{person.pseudonym} is now {person.get_role_display()}.")
    except AccountRefused as refused:
        messages.error(request, str(refused))
    return redirect("people")


@require_POST
@admin_required
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Let an account in or keep it out."""
    person = get_object_or_404(User, pk=pk)
    active = request.POST.get("active") == "yes"
    try:
        set_active(person, active=active, by=request.user)
        messages.success(request, f"{person.pseudonym} can {'' if active else 'no longer '}sign in.")
    except AccountRefused as refused:
        messages.error(request, str(refused))
    return redirect("people")


@require_http_methods(["GET", "POST"])
@curator_required
def invitations(request: HttpRequest) -> HttpResponse:
    """List the invitations, and make one: its link is shown this once."""
    form = InvitationForm(request.POST or None, by=request.user)
    link = ""
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        made = invite(role=Role(said["role"]), by=request.user, study=said["study"], note=said["note"])
        link = request.build_absolute_uri(reverse("join", args=[made.token]))
        form = InvitationForm(by=request.user)
    rows = Invitation.objects.select_related("study", "accepted_by", "created_by")
    if not request.user.administers:
        rows = rows.filter(created_by=request.user)
    context = {
        "form": form,
        "link": link,
        "invitations": rows[:INVITATIONS_SHOWN],
        "now": timezone.now(),
        "open_sign_up": settings.SIGN_UP,
        "waiting": waiting(),
        "answer_form": AnswerForm(),
    }
    return render_page(request, "annotation/invitations.html", context, status=422 if form.is_bound else 200)


@require_POST
@curator_required
def invitation_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """End an invitation that was not used: one's own, for admins any."""
    rows = Invitation.objects.all() if request.user.administers else request.user.invitations.all()
    withdraw(get_object_or_404(rows, pk=pk), by=request.user, now=timezone.now())
    return redirect("invitations")


@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Let an invited person choose user name and password, once."""
    try:
        invitation = find_invitation(token, now=timezone.now())
    except InvitationOver:
        return render_page(request, "annotation/join_over.html", status=404)
    form = AcceptForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _accept(request, token, form)
    context = {"form": form, "invitation": invitation}
    return render_page(request, "annotation/join.html", context, status=422 if form.is_bound else 200)


def _accept(request: HttpRequest, token: str, form: AcceptForm) -> HttpResponse:
    said = form.cleaned_data
    try:
        user = accept_invitation(
            token, username=said["username"], password=said["password1"], now=timezone.now()
        )
    except (InvitationOver, IntegrityError):
        return redirect("join", token)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    messages.success(request, f"Welcome. Others read of you as {user.pseudonym}.")
    return redirect("home")


@require_http_methods(["GET", "POST"])
def sign_up_page(request: HttpRequest) -> HttpResponse:
    """Let somebody ask for an account, where the site has that switched on; else there is no such page."""
    if not settings.SIGN_UP:
        raise Http404
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and not ratelimit.consume(request, action="signup"):
        refused: HttpResponse = ratelimit.respond_429(request)
        return refused
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            sign_up(username=said["username"], password=said["password1"], note=said["note"])
        except AccountRefused as refused:
            form.add_error(None, str(refused))
        except IntegrityError:
            form.add_error("username", "A user with that username already exists.")
        else:
            return render_page(request, "annotation/sign_up_done.html")
    status = 422 if form.is_bound else 200
    return render_page(request, "annotation/sign_up.html", {"form": form}, status=status)


@require_POST
@curator_required
def sign_up_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Let somebody in who asked for an account, or turn them away."""
    row = get_object_or_404(SignUp.objects.select_related("user"), pk=pk)
    form = AnswerForm(request.POST)
    approved = request.POST.get("answer") == "yes"
    if not form.is_valid():
        messages.error(request, "That study takes nobody any more; choose another.")
        return redirect("invitations")
    try:
        study = form.cleaned_data["study"]
        answer(row, approved=approved, study=study, by=request.user, now=timezone.now())
        messages.success(
            request, f"{row.user.pseudonym} {'can sign in now' if approved else 'was turned away'}."
        )
    except AccountRefused as refused:
        messages.error(request, str(refused))
    return redirect("invitations")
