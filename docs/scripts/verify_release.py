#!/usr/bin/env python3
"""Download a frozen release, verify every hash, and run every reference in its image. Standard library only.

    BENCHWRIGHT_TOKEN=… python3 verify_release.py https://bench.example NAME 1.0.0 [--into DIR] [--no-run]

The token needs the scope releases:read. Images are used by digest, so they must be on this machine. Exit status:
0 all as published, 1 something differs or a reference fails, 2 the release could not be fetched or nothing can be run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 60
# As hardened as one command line can be; the product's own runner does more (docs/runner.md).
DOCKER = [
    *("docker", "run", "--rm", "--interactive", "--network", "none", "--read-only", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--user", "65534:65534", "--pids-limit", "64", "--cpus", "1"),
    *("--memory", "512m", "--memory-swap", "512m", "--tmpfs", "/tmp:rw,nosuid,nodev,size=64m"),  # noqa: S108 - inside the container
    *("--workdir", "/tmp", "--env", "HOME=/tmp", "--env", "PYTHONHASHSEED=1"),  # noqa: S108 - inside the container
]
START = (
    "import runpy, sys; open('program.py', 'wb').write(sys.stdin.buffer.read());"
    " runpy.run_path('program.py', run_name='__main__')"
)
CALLS = """

import asyncio as _asyncio
import inspect as _inspect
for _test in [{names}]:
    _result = _test()
    if _inspect.isawaitable(_result):
        _asyncio.run(_result)
"""


class Unreachable(Exception):
    """The release could not be fetched, or nothing can be run here; the message says why."""


def fetch(address: str, token: str, target: Path) -> None:
    """Write what stands at the address into the file, piece by piece. Raises Unreachable."""
    if not address.startswith(("http://", "https://")):
        raise Unreachable(f"{address} is no web address.")
    request = urllib.request.Request(address, headers={"Authorization": f"Token {token}"})  # noqa: S310 - checked
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer, target.open("wb") as file:  # noqa: S310 - checked
            while piece := answer.read(1 << 16):
                file.write(piece)
    except urllib.error.HTTPError as error:
        raise Unreachable(
            f"{address} answers {error.code}: {error.read(300).decode(errors='replace')}"
        ) from error
    except OSError as error:
        raise Unreachable(f"{address}: {error}") from error


def download(site: str, name: str, number: str, token: str, room: Path) -> list[tuple[str, str]]:
    """Fetch SHA256SUMS and every file it names, and return (sha256, file name) of each."""
    base = f"{site.rstrip('/')}/api/v1/releases/{name}/{number}"
    fetch(f"{base}/sums/", token, room / "SHA256SUMS")
    listed = [line.split("  ", 1) for line in (room / "SHA256SUMS").read_text().splitlines()]
    for _, file in listed:
        if Path(file).name != file:
            raise Unreachable(f"SHA256SUMS names {file!r}, which is no plain file name.")
        fetch(f"{base}/files/{file}/", token, room / file)
    return [(sha256, file) for sha256, file in listed]


def digest_of(path: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differing(room: Path, listed: list[tuple[str, str]]) -> Iterator[str]:
    """Yield what is not as published: files by their sums, lines by the manifest, splits that are too short."""
    for sha256, file in listed:
        if digest_of(room / file) != sha256:
            yield f"{file}: not the published bytes"
    manifest = json.loads((room / "manifest.json").read_text())
    hashes = {each["id"]: each["sha256"] for each in manifest["examples"]}
    here = {file for _, file in listed}
    for split in manifest["splits"].values():
        if split["file"] not in here:
            if not split["held_out"]:
                yield f"{split['file']}: missing"
            continue
        number = 0
        for line in (room / split["file"]).read_bytes().splitlines(keepends=True):
            number += 1
            record = json.loads(line)
            known = not split["held_out"]  # of a held-out split the manifest has the file's hash only
            if known and hashes.get(record["id"]) != hashlib.sha256(line).hexdigest():
                yield f"{record['id']}: its line is not what the manifest says"
            if record["canary"] != manifest["canary"]:
                yield f"{record['id']}: another canary"
        if number != split["examples"]:
            yield f"{split['file']}: {number} lines, {split['examples']} published"


def program(record: dict[str, Any]) -> str:
    """Return the source with the reference and the tests back in their places, and calls where no block makes them."""
    data = record["context"].encode()
    inserts = [
        (record["gap"], record["reference"]),
        *((each["offset"], each["text"]) for each in record["segments"]),
    ]
    pieces, at = [], 0
    for offset, text in sorted(inserts, key=lambda insert: insert[0]):
        pieces += [data[at:offset], text.encode()]
        at = offset
    source = b"".join([*pieces, data[at:]]).decode()
    return source if record["block"] else source + CALLS.format(names=", ".join(record["expected"]))


def run(record: dict[str, Any]) -> str:
    """Run a reference with its tests in its image, and return "" when it passes, else why not. Raises Unreachable."""
    name = f"benchwright-verify-{secrets.token_hex(8)}"
    command = [*DOCKER, "--name", name, record["image"], "python3", "-P", "-s", "-B", "-c", START]
    try:
        done = subprocess.run(
            command, input=program(record).encode(), capture_output=True, timeout=TIMEOUT_SECONDS
        )
    except FileNotFoundError as error:
        raise Unreachable(
            "There is no docker command on this machine; --no-run verifies hashes only."
        ) from error
    except subprocess.TimeoutExpired:
        subprocess.run(["docker", "kill", name], capture_output=True, check=False)
        return f"no end within {TIMEOUT_SECONDS} s"
    if done.returncode == 125:
        raise Unreachable(
            f"docker could not run {record['image']}: {done.stderr.decode(errors='replace').strip()}"
        )
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return "" if done.returncode == 0 else f"exit status {done.returncode}: {last}"


def failing(room: Path, listed: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the references in Python that do not pass, saying of each how it went."""
    for _, file in listed:
        if not file.endswith(".jsonl"):
            continue
        for line in (room / file).read_bytes().splitlines():
            record = json.loads(line)
            if record["language"] != "python":
                print(
                    f"{record['id']}: not run, since it is in {record['language']} and this script runs Python"
                )
                continue
            why = run(record)
            print(f"{record['id']}: {why or 'passes'}")
            if why:
                yield f"{record['id']}: {why}"


def verify(site: str, name: str, number: str, *, token: str, room: Path, runs: bool) -> list[str]:
    """Return everything that is not as published. Raises Unreachable."""
    listed = download(site, name, number, token, room)
    wrong = list(differing(room, listed))
    print(f"{len(listed)} files, {len(wrong)} differences")
    if runs and not wrong:
        wrong += failing(room, listed)
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Verify what the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description="Verify a frozen release of Benchwright.")
    parser.add_argument("site", help="such as https://bench.example")
    parser.add_argument("name")
    parser.add_argument("number", help="such as 1.0.0")
    parser.add_argument("--into", type=Path, help="keep the files in this directory")
    parser.add_argument("--no-run", action="store_true", help="verify hashes only")
    chosen = parser.parse_args(arguments)
    token = os.environ.get("BENCHWRIGHT_TOKEN", "")
    if not token:
        print("Set BENCHWRIGHT_TOKEN to a token with the scope releases:read.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as passing:
        room = chosen.into or Path(passing)
        room.mkdir(parents=True, exist_ok=True)
        try:
            wrong = verify(
                chosen.site, chosen.name, chosen.number, token=token, room=room, runs=not chosen.no_run
            )
        except Unreachable as why:
            print(why, file=sys.stderr)
            return 2
    for each in wrong:
        print(each, file=sys.stderr)
    print("Not as published." if wrong else f"{chosen.name} {chosen.number} is as published.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
