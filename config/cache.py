"""The cache: Redis, and this process's own memory while Redis is away, so that limits degrade and no request fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# After a failure Redis is not asked for so long: where it hangs, each question costs its timeout.
PAUSE_SECONDS = 5.0
METHODS = ("add", "get", "set", "touch", "delete", "get_many", "has_key", "incr", "set_many", "delete_many")


class _Server:
    """The server behind the cache, for all threads of this process: Django makes a cache for each request."""

    def __init__(self) -> None:
        self.cache: RedisCache | None = None
        self.away_until = float("-inf")


_server = _Server()


class SteadyCache(BaseCache):
    """Counts and keeps in Redis, for all web processes together; in this process alone while Redis does not answer.

    What it holds are rates of requests and of failed sign-ins: they are then limited for each process by itself.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        if _server.cache is None:
            _server.cache = RedisCache(server, params)
        self.shared, self.own = _server.cache, LocMemCache("steady", {})

    def ping(self) -> bool:
        """Return whether Redis answers, asking it now."""
        try:
            self.shared._cache.get_client().ping()
        except (RedisError, OSError) as error:
            _note(error)
            return False
        _server.away_until = float("-inf")
        return True

    def clear(self) -> None:
        """Forget what this process keeps by itself; the shared part ends by its own timeouts."""
        self.own.clear()


def _steady(name: str) -> Callable[..., Any]:
    """Return a method that asks Redis, and our own memory while that is away."""

    def call(self: SteadyCache, *args: Any, **kwargs: Any) -> Any:
        if not away():
            try:
                return getattr(self.shared, name)(*args, **kwargs)
            except (RedisError, OSError) as error:
                _note(error)
        return getattr(self.own, name)(*args, **kwargs)

    return call


for _name in METHODS:
    setattr(SteadyCache, _name, _steady(_name))


def _note(error: Exception) -> None:
    if not away():
        logger.warning("Redis does not answer (%s): rates are limited in this process alone.", error)
    note_away()


def away() -> bool:
    """Return whether somebody in this process has found the server away within the last seconds; asks nobody."""
    return time.monotonic() < _server.away_until


def note_away() -> None:
    """Let nobody in this process ask the server for a moment."""
    _server.away_until = time.monotonic() + PAUSE_SECONDS


def answers() -> bool:
    """Return whether the server behind the cache, which is also the queues', answers now."""
    ping: Callable[[], bool] | None = getattr(cache, "ping", None)
    return ping() if ping else True
