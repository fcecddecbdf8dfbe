"""The annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Nothing but the name: no work happens while apps load."""

    name = "annotation"
