"""What the log does not hold: an invitation's link lets whoever reads it in."""

from __future__ import annotations

import logging
from logging.config import DictConfigurator
from typing import Any

import pytest
from django.conf import settings

from annotation.invitations import invite
from annotation.models import User
from config.access import Role


@pytest.mark.django_db
def test_a_link_that_still_works_is_not_logged(
    client: Any, curator: User, caplog: pytest.LogCaptureFixture
) -> None:
    made = invite(role=Role.ANNOTATOR, by=curator)
    assert client.post(f"/join/{made.token}/", {"username": "x"}).status_code == 422
    [record] = [each for each in caplog.records if "/join/" in each.getMessage()]
    for name in settings.LOGGING["handlers"]["console"]["filters"]:
        assert (
            DictConfigurator(settings.LOGGING)
            .configure_filter(settings.LOGGING["filters"][name])
            .filter(record)
        )
    assert record.getMessage().endswith("/join/[...]/")
    assert made.token not in record.getMessage()


def test_other_records_keep_their_arguments() -> None:
    record = logging.LogRecord("x", logging.INFO, "x", 1, "%s is %d", ("a", 1), None)
    for each in settings.LOGGING["filters"].values():
        assert DictConfigurator(settings.LOGGING).configure_filter(each).filter(record)
    assert record.args == ("a", 1)
