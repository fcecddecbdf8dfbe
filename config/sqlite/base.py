"""SQLite whose writers queue for the kernel's lock on a file beside the database.

SQLite lets one connection write at a time and lets the others sleep, up to 100 ms before each look at the lock
(https://www.sqlite.org/src/file/src/main.c, `sqliteDefaultBusyCallback`): who waits longest sleeps longest. Here a
connection first takes the file's lock, which the kernel hands on at once when it is given back or its holder ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Turn:
    """One connection's place in the queue of those that write to a database."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._file: int | None = None
        self.held = False

    def take(self) -> None:
        """Wait until it is this connection's turn."""
        if self._file is None:
            self._file = self._opened()
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self.held = True

    def _opened(self) -> int:
        """Return the lock's file, which belongs to whom the database belongs, as SQLite's own files beside it do.

        It is not the database itself: closing that would give up SQLite's locks (fcntl(2), "Record locking").
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(f"{self._database}-turn", flags, 0o600)
        if os.geteuid() == 0:
            owner = Path(self._database).stat()
            os.fchown(file, owner.st_uid, owner.st_gid)
        return file

    def give_back(self) -> None:
        """Let the next one write; nothing happens where it was not this one's turn."""
        if self.held and self._file is not None:
            self.held = False
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the queue."""
        file, self._file, self.held = self._file, None, False
        if file is not None:
            os.close(file)

    @contextmanager
    def for_one(self, query: str) -> Iterator[None]:
        """Hold the turn for one statement, where it writes and stands in no transaction."""
        if self.held or not query.lstrip()[:7].upper().startswith(WRITES):
            yield
            return
        self.take()
        try:
            yield
        finally:
            self.give_back()


class Cursor(base.SQLiteCursorWrapper):
    """A cursor whose single writes wait for their turn."""

    def __init__(self, connection: Any, turn: Turn) -> None:
        super().__init__(connection)
        self._turn = turn

    def execute(self, query: str, params: Any = None) -> Any:
        """Execute a statement; as Django's."""
        with self._turn.for_one(query):
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        """Execute a statement for each of the parameters; as Django's."""
        with self._turn.for_one(query):
            return super().executemany(query, param_list)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection to a database in a file; its transactions and single writes take turns with all others'."""

    _turn: Turn | None = None

    def create_cursor(self, name: str | None = None) -> Any:
        """Return a cursor; one in memory has nobody to take turns with."""
        if self.is_in_memory_db():
            return super().create_cursor(name)
        turn = self._own_turn()
        return self.connection.cursor(factory=lambda connection: Cursor(connection, turn))

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        """Begin a transaction in its turn, or go back to single statements; as Django's."""
        if not autocommit and not self.is_in_memory_db():
            self._own_turn().take()
        try:
            super().set_autocommit(autocommit, force_begin_transaction_with_broken_autocommit)
        except BaseException:
            self._give_back()
            raise

    def commit(self) -> None:
        """Commit, and let the next one write."""
        super().commit()
        self._give_back()

    def rollback(self) -> None:
        """Roll back, and let the next one write."""
        try:
            super().rollback()
        finally:
            self._give_back()

    def close(self) -> None:
        """Close the connection and leave the queue."""
        try:
            super().close()
        finally:
            if self._turn is not None:
                self._turn.close()

    def _own_turn(self) -> Turn:
        if self._turn is None:
            self._turn = Turn(str(self.settings_dict["NAME"]))
        return self._turn

    def _give_back(self) -> None:
        if self._turn is not None:
            self._turn.give_back()
