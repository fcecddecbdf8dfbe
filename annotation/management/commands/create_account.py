"""manage.py create_account NAME --role ROLE: an account with a one-time password, printed once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from annotation.accounts import create_account, one_time_password
from config.access import Role


class Command(BaseCommand):
    """Make an account from the shell: the first admin of a site that was set up without the demo."""

    help = "Make an account and print its one-time password; at the first sign-in a new one has to be chosen."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name and the role."""
        parser.add_argument("name", help="user name")
        parser.add_argument("--role", choices=Role.values, default=Role.ADMIN.value)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the password, alone on its line. Raises CommandError when the name is taken."""
        password = one_time_password()
        try:
            create_account(
                username=options["name"], role=Role(options["role"]), password=password, must_change=True
            )
        except IntegrityError as error:
            raise CommandError(f"There is an account named {options['name']} already.") from error
        self.stdout.write(password)
