"""The runner app."""

from django.apps import AppConfig


class RunnerConfig(AppConfig):
    """Nothing but the name: no work happens while apps load."""

    name = "runner"
