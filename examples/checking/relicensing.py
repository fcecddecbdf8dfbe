"""CHECK: the licence check decided anew for many versions at once, where a licence was named or taken away."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from examples.checking.licence import known, unknown
from examples.models import Check, Example, Version

NAME = "licence"
State = Version.CheckState


def decide_licence(examples: QuerySet[Example], licence: str, where: str) -> int:
    """Decide the check of all versions of examples that now have this licence ("" is none), in a dozen queries.

    `where` says whose licence it is. Returns how many checks were decided. A version being checked at this moment
    starts over: its worker read the former licence, so its claim is taken from it.
    """
    versions = Version.objects.filter(example__in=examples.values("pk"))
    finding = known(licence, where) if licence else unknown("Set it on the example, or on its dataset.")
    versions.filter(check_state=State.RUNNING).update(
        check_state=State.PENDING, check_claim="", check_lease_end=None
    )
    decided = Check.objects.filter(version__in=versions.values("pk"), name=NAME).update(
        state=finding.state, finding=finding.sentence, evidence=finding.evidence, checked_at=timezone.now()
    )
    checked = versions.filter(check_state__in=[State.PASSED, State.FAILED, State.UNJUDGED])
    _renew_states(checked, failed=not licence)
    return decided


def _renew_states(versions: QuerySet[Version], *, failed: bool) -> None:
    """Write failed checks and state of versions anew; what else failed is told by the distinct texts, which are few."""
    texts = versions.order_by().values_list("failed_checks", flat=True).distinct()
    for text in list(texts):
        names = [name for name in text.split(",") if name and name != NAME]
        names += [NAME] if failed else []
        same = versions.filter(failed_checks=text)
        if names:
            same.update(failed_checks=",".join(names), check_state=State.FAILED)
            continue
        open_ = Check.objects.filter(version=OuterRef("pk")).exclude(state=Check.State.PASSED)
        lost = list(same.filter(Exists(open_)).values_list("pk", flat=True))
        same.filter(~Exists(open_)).update(failed_checks="", check_state=State.PASSED)
        versions.filter(pk__in=lost).update(failed_checks="", check_state=State.UNJUDGED)
