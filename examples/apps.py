"""The examples app."""

from django.apps import AppConfig


class ExamplesConfig(AppConfig):
    """Nothing but the name: no work happens while apps load."""

    name = "examples"
