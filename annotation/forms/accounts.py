"""ACCOUNTS: invitations, and accounts made by an admin or through an invitation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from annotation.invitations import roles_to_invite
from annotation.models import Study, User

if TYPE_CHECKING:  # generic for the type checker only
    UserModelForm = forms.ModelForm[User]
else:
    UserModelForm = forms.ModelForm


class InvitationForm(forms.Form):
    """For whom an invitation is."""

    role = forms.ChoiceField(label="Role")
    study = forms.ModelChoiceField(
        Study.objects.exclude(state=Study.State.CLOSED), required=False, empty_label="no study yet"
    )
    note = forms.CharField(
        required=False, max_length=200, label="Note to yourself", help_text="Only those who invite see it."
    )

    def __init__(self, *args: Any, by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = [(each.value, each.label) for each in roles_to_invite(by)]


class NewAccountForm(UserModelForm):
    """User name and role of an account that an admin makes."""

    class Meta:
        model = User
        fields = ["username", "role"]


class AcceptForm(UserModelForm):
    """User name and password that an invited person chooses."""

    password1 = forms.CharField(
        label="Password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 10 characters; a sentence is easy to keep.",
    )
    password2 = forms.CharField(
        label="Password again",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    class Meta:
        model = User
        fields = ["username"]
        widgets = {"username": forms.TextInput(attrs={"autocomplete": "username"})}
        help_texts = {"username": "For signing in only; others read of you under a pseudonym."}

    def clean(self) -> dict[str, Any]:
        """Check that both passwords are the same and good enough."""
        said = super().clean() or {}
        first, second = said.get("password1"), said.get("password2")
        if first and second and first != second:
            self.add_error("password2", "The two passwords are not the same.")
        elif first:
            try:
                validate_password(first, User(username=said.get("username", "")))
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return said


class SignUpForm(AcceptForm):
    """User name, password, and a word to the curators, of somebody who asks for an account."""

    note = forms.CharField(
        required=False,
        max_length=500,
        label="Who you are, in a line",
        help_text="Curators read it when they decide. Leave out what you would not want kept.",
    )


class AnswerForm(forms.Form):
    """A curator's answer to a sign-up: into which study, where they are let in."""

    study = forms.ModelChoiceField(
        Study.objects.exclude(state=Study.State.CLOSED), required=False, empty_label="no study yet"
    )
