"""The Celery app, its queues, and the lanes in which a worker process takes from them."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from django.db import transaction
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# "samples" is what waits of evaluation runs; who takes from "bulk" takes from it in turn, so that ten thousand samples hold
# up no import and no check.
QUEUES = ("interactive", "bulk", "samples", "generation")


class Task(DjangoTask):  # type: ignore[type-arg] # generic in the stubs only
    """A task whose message is only a wake-up: a broker that is down is logged and fails no request.

    What a lost message was about stands in the database, where the reconciler finds it (runner/reconcile.py).
    """

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override] # returns None in truth
        """Call `delay` once the transaction is committed; an error of the broker is logged, never raised."""
        self.apply_async_on_commit(args, kwargs)

    def apply_async_on_commit(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override] # as above
        """Call `apply_async` once the transaction is committed; an error of the broker is logged, never raised."""

        def send() -> None:
            self.apply_async(*args, **{"retry": False, **kwargs})

        # Robust: Django logs what is raised. It needs a function with a name, which a partial has not.
        transaction.on_commit(send, robust=True)


def make_app(queues: tuple[str, ...], **options: Any) -> Celery:
    """Return a Celery app that takes from the given queues."""
    made: Celery = Celery("benchwright", task_cls=Task, **options)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.conf.task_queues = [Queue(name) for name in queues]
    return made


app = make_app(QUEUES)
app.autodiscover_tasks()


def lane(*queues: str) -> Celery:
    """Return an app with the same tasks (they are shared ones) that takes from these queues only.

    Celery keeps the queues a worker takes from on the app, so two consumers in one process need two apps.
    """
    made = make_app(queues, set_as_current=False)
    made.autodiscover_tasks()
    return made
