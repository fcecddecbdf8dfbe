"""manage.py demo_passwords: new passwords for the demo's accounts, printed once (make passwords)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation import demo


class Command(BaseCommand):
    """Give the demo's accounts new passwords and print them; whoever may run this may read the database anyway."""

    help = "Give the demo's accounts (admin, curator, annotator1 to 3) new random passwords and print them."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print name and password, a line each. Raises CommandError on a site without these accounts."""
        passwords = demo.renew_passwords()
        if not passwords:
            raise CommandError("This site has none of the demo's accounts.")
        for name, word in passwords.items():
            self.stdout.write(f"    {name:<12} {word}")
