"""ATTEMPT: closing the sockets of a person who signed out or may no longer look."""

from __future__ import annotations

import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


def group_of(person: int) -> str:
    """Return the channel group of everything a person has open."""
    return f"person-{person}"


def close_sockets(person: int | None) -> None:
    """Tell the person's consumers to close. Without a broker they close by themselves at their next look."""
    if person is None:
        return
    try:
        async_to_sync(get_channel_layer().group_send)(group_of(person), {"type": "person.left"})
    except (RedisError, OSError) as error:
        log.warning("sockets of person %s were not told to close: %s", person, error)
