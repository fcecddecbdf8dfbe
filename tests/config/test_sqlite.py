"""SQLite whose writers take turns: who waits, who need not, and when the next may go on."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, connections, transaction
from django.utils import timezone

from config.sqlite.base import DatabaseWrapper, Turn

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="the tests were asked to run on another database"
    ),
]

HOLD = """
import fcntl, sys
held = open(sys.argv[1], "a")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def turns_file() -> Path:
    """The file whose lock is the turn."""
    return Path(f"{connection.settings_dict['NAME']}-turn")


@contextmanager
def another_process_has_the_turn() -> Iterator[subprocess.Popen[str]]:
    """A process that holds the turn, though nothing of the database, until the block ends or it is killed."""
    command = [sys.executable, "-c", HOLD, str(turns_file())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
        other.kill()


def is_free() -> bool:
    """Return whether anybody could take the turn now."""
    with turns_file().open("a") as file, suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def write(key: str = "any") -> None:
    Session.objects.create(session_key=key, session_data="", expire_date=timezone.now())


def write_in_a_transaction() -> None:
    with transaction.atomic():
        write()


def in_a_thread(work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "work", [write, write_in_a_transaction, lambda: Session.objects.update(session_data="x")]
)
def test_who_writes_waits_for_the_turn_and_has_it_when_its_holder_is_killed(
    work: Callable[[], object],
) -> None:
    with another_process_has_the_turn() as other:
        writer = in_a_thread(work)
        writer.join(0.3)
        assert writer.is_alive()
        other.kill()
        writer.join(20)
        assert not writer.is_alive()


def test_who_reads_waits_for_nobody() -> None:
    with another_process_has_the_turn():
        reader = in_a_thread(Session.objects.first)
        reader.join(20)
        assert not reader.is_alive()


def test_the_turn_is_given_back_at_the_end_of_a_transaction_however_it_ends() -> None:
    with transaction.atomic():
        write("kept")
        assert not is_free()
    assert is_free()
    with suppress(ZeroDivisionError), transaction.atomic():
        write("undone")
        raise ZeroDivisionError
    assert is_free()
    with transaction.atomic(), suppress(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    assert is_free()
    assert [each.session_key for each in Session.objects.all()] == ["kept"]


def test_the_turn_is_given_back_where_the_connection_closes_in_a_transaction() -> None:
    with suppress(Exception), transaction.atomic():
        write("lost")
        connection.close()
    assert is_free()
    assert not Session.objects.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_turns_file_belongs_to_whom_the_database_belongs(tmp_path: Path) -> None:
    database = tmp_path / "some.sqlite3"
    database.touch()
    os.chown(database, 65534, 65534)
    turn = Turn(str(database))
    turn.take()
    turn.close()
    assert Path(f"{database}-turn").stat().st_uid == 65534


def test_a_database_in_memory_has_no_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {**connection.settings_dict, "NAME": ":memory:"}
    alone = DatabaseWrapper(settings, alias="alone")
    with alone.cursor() as cursor:
        cursor.execute("CREATE TABLE one (number)")
        cursor.execute("INSERT INTO one VALUES (1)")
    assert list(tmp_path.iterdir()) == []
