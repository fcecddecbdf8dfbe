"""What the scripts over examples share: a database of their own, environments, checks in threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

AT_ONCE = 2


def prepare() -> None:
    """Set Django up on a database of this script and make its tables; DATABASE_URL may name a Postgres."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def database() -> str:
    """Return the name of the database the script is on."""
    from django.db import connection

    return str(connection.display_name)


def provide_environments() -> None:
    """Build the environments where they are absent and put them into the database."""
    from runner.environments.recipe import recipes
    from runner.provisioning import provision

    for recipe in recipes().values():
        if recipe.usual:
            provision(recipe, progress=lambda _: None)


def check_all(versions: list[int]) -> float:
    """Check the versions, AT_ONCE at a time, every execution in a box of its own; return the seconds it took."""
    from examples.checking.run import check_version

    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(closing(check_version), versions))
    return time.monotonic() - began


def closing(call: Callable[[int], Any]) -> Callable[[int], Any]:
    """Return the call, its thread's connection closed behind it."""

    def called(argument: int) -> Any:
        from django.db import connection

        try:
            return call(argument)
        finally:
            connection.close()

    return called
