"""docs/scripts/verify_release.py: a published release holds, a changed byte or a broken reference does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings

from annotation import evidence
from annotation.tokens import make_token
from examples.models import Version
from examples.releasing.drafting import DraftPlan, SplitPlan, draft_release
from examples.releasing.freezing import freeze
from tests.factories import IMAGE, make_attempt, make_environment, make_study, make_version

SCRIPT = settings.BASE_DIR / "docs" / "scripts" / "verify_release.py"


def verify(site: str, token: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), site, "solved", "1.0.0", *more]
    environment = {"PATH": os.environ["PATH"], "BENCHWRIGHT_TOKEN": token}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def publish(transactional_db, ann, curator, reader):
    """Freeze a release of the image with the given references, and give a reader's token."""

    def made(image: str, *references: str) -> str:
        environment = make_environment(digest=image)
        versions = [
            make_version(f"add{at}", environment=environment, reference=reference)
            for at, reference in enumerate(references)
        ]
        study = make_study(versions=versions, people=[ann], solvers=1)
        for version in versions:
            make_attempt(study, version, ann)
        private = 0.5 if len(versions) > 1 else 0
        splits = [SplitPlan("test", 1 - private), SplitPlan("private", private, held_out=True)]
        plan = DraftPlan(name="solved", number="1.0.0", seed=3, splits=splits)
        freeze(draft_release(plan, versions=Version.objects.all(), by=curator), by=curator, people=evidence)
        return make_token(reader, name="verify", scopes=["releases:read"], days=7)

    return made


def test_a_published_release_holds_to_its_hashes(publish, live_server, tmp_path):
    token = publish(IMAGE, "return a + b", "return b + a")
    done = verify(live_server.url, token, "--no-run", "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "solved 1.0.0 is as published." in done.stdout
    assert not (tmp_path / "private.jsonl").exists()
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_a_curator_verifies_what_is_held_out_by_the_hash_of_its_file(publish, live_server, tmp_path, curator):
    publish(IMAGE, "return a + b", "return b + a")
    token = make_token(curator, name="verify", scopes=["releases:read"], days=7)
    done = verify(live_server.url, token, "--no-run", "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "private.jsonl").exists()


def test_one_changed_byte_is_found_and_named(publish, live_server, tmp_path):
    token = publish(IMAGE, "return a + b", "return b + a")
    verify(live_server.url, token, "--no-run", "--into", str(tmp_path))
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        import verify_release
    finally:
        sys.path.pop(0)
    listed = [tuple(line.split("  ")) for line in (tmp_path / "SHA256SUMS").read_text().splitlines()]
    assert not list(verify_release.differing(tmp_path, listed))
    split = tmp_path / "test.jsonl"
    split.write_bytes(split.read_bytes().replace(b"return", b"retunr", 1))
    said = list(verify_release.differing(tmp_path, listed))
    assert said[0] == "test.jsonl: not the published bytes"
    assert "its line is not what the manifest says" in said[1]


def test_a_token_that_may_not_or_is_missing_exits_2(publish, live_server):
    publish(IMAGE, "return a + b", "return b + a")
    refused = verify(live_server.url, "f" * 64, "--no-run")
    assert (refused.returncode, "answers 401" in refused.stderr) == (2, True)
    assert verify(live_server.url, "", "--no-run").returncode == 2


def plain_image() -> str:
    """Return the digest of the runner's plain image on this machine."""
    command = ["docker", "image", "inspect", "benchwright/python:3.13", "--format", "{{.Id}}"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no engine, or no image benchwright/python:3.13 (make run builds it)")


@pytest.mark.docker
@pytest.mark.parametrize(("reference", "status"), [("return a + b", 0), ("return a - b", 1)])
def test_references_run_in_their_image_by_digest_and_one_that_fails_exits_1(
    reference, status, publish, live_server
):
    done = verify(live_server.url, publish(plain_image(), reference))
    assert done.returncode == status, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("EX-")]
    assert line.endswith(": passes" if status == 0 else ": exit status 1: AssertionError")


@pytest.mark.docker
def test_an_image_that_is_not_here_exits_2(publish, live_server):
    plain_image()
    done = verify(live_server.url, publish(IMAGE, "return a + b", "return b + a"))
    assert (done.returncode, "docker could not run" in done.stderr) == (2, True)


def test_the_script_needs_only_the_standard_library():
    lines = [line for line in SCRIPT.read_text().splitlines() if line.startswith(("import ", "from "))]
    assert {line.split()[1].split(".")[0] for line in lines} - {"__future__"} <= sys.stdlib_module_names
