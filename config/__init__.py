"""What joins the apps: settings, routes, the Celery app, the parent of all processes."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
