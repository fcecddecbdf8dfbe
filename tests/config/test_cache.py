"""While Redis is away nobody's request fails, limits hold in the process, and pages and monitors say what is wrong."""

from __future__ import annotations

import socket

import pytest
from django.core.cache import cache, caches
from django.urls import reverse

from config import cache as steady
from runner import reconcile, waking, workers
from runner.models import Worker
from tests.conftest import PASSWORD
from tests.runner.fakes import built_environment
from tests.services import free_port, redis_program, redis_server


@pytest.fixture
def redis_cache(settings, monkeypatch):
    """redis_cache(url): let the site keep its cache there, as the product's settings do."""

    def use(url: str) -> None:
        monkeypatch.setattr(steady, "_server", steady._Server())
        settings.CACHES = {"default": {"BACKEND": "config.cache.SteadyCache", "LOCATION": url}}

    yield use
    caches["default"].clear()


@pytest.fixture
def away(redis_cache):
    """A Redis that refuses every connection."""
    redis_cache(f"redis://127.0.0.1:{free_port()}/0")


def test_the_product_keeps_its_cache_there():
    from config.settings import CACHES

    assert CACHES["default"]["BACKEND"] == "config.cache.SteadyCache"


def test_what_is_kept_is_in_redis_for_all_processes(redis_cache, redis_url):
    redis_cache(redis_url)
    cache.set("seen", [1, 2], 60)
    assert cache.get("seen") == [1, 2]
    caches["default"].own.clear()
    assert cache.get("seen") == [1, 2]
    assert cache.add("lock", 1, 60)
    assert not cache.add("lock", 1, 60)
    assert steady.answers()


def test_the_api_answers_and_still_limits_while_redis_is_away(away, client, curator, monkeypatch):
    from rest_framework.throttling import UserRateThrottle

    monkeypatch.setattr(UserRateThrottle, "rate", "2/min", raising=False)
    client.force_login(curator)
    got = [client.get(reverse("v1:dataset-list")).status_code for _ in range(3)]
    assert got == [200, 200, 429]


def test_one_can_sign_in_while_redis_is_away(away, client, ann, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "login_failed": "10/m/ip,2/5m/key"}
    page = reverse("account_login")
    wrong = [client.post(page, {"login": "ann", "password": "wrong"}) for _ in range(3)]
    assert "Too many failed" in wrong[-1].content.decode()
    cache.clear()
    assert client.post(page, {"login": "ann", "password": PASSWORD}).status_code == 302


def test_it_is_logged_once_and_redis_is_asked_again_after_a_pause(away, caplog, monkeypatch):
    cache.set("a", 1)
    cache.set("b", 2)
    assert len([line for line in caplog.messages if "Redis does not answer" in line]) == 1
    assert (cache.get("a"), cache.get("b")) == (1, 2)
    asked: list[str] = []
    monkeypatch.setattr(caches["default"].shared, "get", lambda *_, **__: asked.append("asked"))
    cache.get("a")
    assert asked == []
    monkeypatch.setattr(steady._server, "away_until", 0.0)
    cache.get("a")
    assert asked == ["asked"]


def test_a_redis_that_comes_back_is_used_again(redis_cache, monkeypatch):
    program = redis_program()
    if program is None:
        pytest.skip("no Redis: `apt-get install redis-server` (make test does this as root)")
    port = free_port()
    redis_cache(f"redis://127.0.0.1:{port}/0")
    assert not steady.answers()
    monkeypatch.setattr("tests.services.free_port", lambda: port)
    with redis_server(program):
        assert steady.answers()
        cache.set("seen", 1)
        assert cache.get("seen") == 1
        assert "seen" not in caches["default"].own


def test_a_redis_that_hangs_costs_its_timeout_once(redis_cache, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        redis_cache(f"redis://127.0.0.1:{silent.getsockname()[1]}/0?socket_timeout=0.2")
        cache.set("a", 1)
        silent.close()
        assert cache.get("a") == 1, "the hanging server is not asked again so soon"


@pytest.mark.django_db
def test_health_says_so_without_naming_hosts(away, client):
    Worker.objects.create(name="here-1", boot="a")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"database": "ok", "broker": "does not answer", "worker": "ok"}


@pytest.mark.django_db
def test_every_page_says_so_once_the_worker_has_found_out(
    away, client, curator, settings, tmp_path, monkeypatch
):
    settings.DATA_DIR = tmp_path
    built_environment()
    post = workers.sign_on(["interactive"])
    client.force_login(curator)
    monkeypatch.setattr(reconcile.obstacles, "look", lambda: "")
    workers.beat(post.worker, engine_error="", facts={})
    assert "Redis" not in client.get(reverse("examples")).content.decode()
    reconcile.beat(post)
    assert workers.BROKER_AWAY in client.get(reverse("examples")).content.decode()


def test_a_request_asks_a_broker_that_is_away_once_and_waits_for_none(away, monkeypatch):
    asked: list[str] = []

    def refuse(name, **_):
        asked.append(name)
        raise ConnectionRefusedError

    monkeypatch.setattr(waking.current_app, "send_task", refuse)
    assert [waking.wake(1, queue="interactive"), waking.wake(2, queue="interactive")] == [False, False]
    assert asked == ["runner.execute"]
    monkeypatch.setattr(steady._server, "away_until", 0.0)
    waking.wake(2, queue="interactive")
    assert len(asked) == 2


def test_kombu_does_not_try_again_by_itself():
    from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS

    assert CELERY_BROKER_TRANSPORT_OPTIONS["max_retries"] == 0
