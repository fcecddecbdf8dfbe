"""IMPORT: which environment a record gets: the smallest that provides what its code imports."""

from __future__ import annotations

from collections.abc import Sequence

from runner.environments.recipe import recipes
from runner.models import Environment


class Environments:
    """The environments there are; those of our recipes get a row before their image is built."""

    def __init__(self) -> None:
        # Those that somebody asked for come last: they are taken only where ours lack something.
        known = [each for each in ensure_environments() if each.image_digest or not each.suite]
        self.known = sorted(known, key=lambda each: (bool(each.suite), len(each.provides), each.name))

    def choose(self, needs: Sequence[str], *, named: str = "", language: str = "python") -> Environment:
        """Return the language's environment of that name, else the smallest that provides all needs, else the one with most.

        What none provides is no reason to refuse a record: its checks say which import fails.
        """
        fit = [each for each in self.known if each.language == language]
        by_name = {each.name: each for each in fit}
        if named in by_name:
            return by_name[named]
        for each in fit:
            if set(needs) <= set(each.provides):
                return each
        return max(fit, key=lambda each: len(set(needs) & set(each.provides)))


def ensure_environments() -> list[Environment]:
    """Return all environments, adding a row, not built yet, for each recipe that has none."""
    there = set(Environment.objects.values_list("name", flat=True))
    for recipe in recipes().values():
        if recipe.name not in there:
            Environment.objects.get_or_create(
                name=recipe.name, defaults={"language": recipe.language, "provides": list(recipe.provides)}
            )
    return list(Environment.objects.all())
