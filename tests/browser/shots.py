"""Picture every page, in every state the tests know, light and dark, 1360 and 390 px wide.

    python -m tests.browser.shots [--out DIRECTORY] [--docs]

Runs the walk and the states with an eye that keeps what it sees; `--docs` then copies the few pictures that README and
docs show to docs/images. Exit status 1 where a test fails or a page of the site was pictured by none of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = [
    "tests/browser/test_walk.py",
    "tests/browser/test_states.py",
    "tests/browser/test_second_factor.py",
    "tests/browser/test_protocol.py",
    "tests/browser/test_workbench.py",
    "tests/browser/test_lost_work.py",
    "tests/browser/test_environments_look.py",
    "tests/browser/test_leaderboard.py",
    "tests/browser/test_generation.py",
    "tests/browser/test_closing.py",
    "tests/browser/test_judging_look.py",
    "tests/browser/test_queue_walk.py",
]
DOCS = {
    "workspace": "workspace-wrong",
    "checks": "example",
    "results": "study-results",
}
# Routes of ours that show no page of their own: they answer to a form, a fragment, a script, or send a file.
NO_PAGE = frozenset(
    [
        "execution",
        "draft",
        "run",
        "scratch",
        "submit",
        "give_up",
        "verdict_draft",
        "verdict_reopen",
        "replay_events",
        "beat",
        "paste",
        "pause",
        "resume",
        "next_example",
        "defer",
        "decline",
        "report_broken",
        "take_up",
        "leave_study",
        "report_decide",
        "report_replace",
        "gold_mark",
        "gold_unmark",
        "person_admit",
        "person_cap",
        "person_withdraw",
        "sign_up_answer",
        "person_new",
        "person_role",
        "person_active",
        "person_reset",
        "invitation_withdraw",
        "protocol_force",
        "protocol_drop",
        "study_state",
        "study_solvers",
        "study_versions",
        "study_version_out",
        "study_people",
        "study_person_out",
        "slot_release",
        "study_codebook",
        "evaluation_score",
        "generation_state",
        "generation_yield",
        "generation_yields",
        "fragment_accept",
        "fragment_again",
        "fragment_reject",
        "leaderboard_file",
        "study_export",
        "release_freeze",
        "release_leave_out",
        "release_discard",
        "release_file",
        "release_tar",
        "dataset_export",
        "rule_on",
        "second_reader",
        "assess_solution",
        "execute_solutions",
        "alternative_withdraw",
        "fix_execute",
        "fix_accept",
        "fix_discard",
        "fairness_execute",
        "fairness_export",
        "token_revoke",
        "try_again",
        "healthz",
        "examples_progress",
        "examples_act",
        "import_problems",
        "suites",
        "environments_remove",
        "environment_build",
        "run_checks",
        "repeat_reference",
        "accept_example",
        "retire_example",
        "set_licence",
        "schema",
    ]
)
SAME_PAGE = {"home": "about"}  # who is not signed in reads the one at the address of the other


def unseen(folder: Path) -> list[str]:
    """Return the names of the site's own pages that no picture in the folder shows."""
    from tests.blindness.routes import http_routes

    seen = {json.loads(line)["route"] for line in (folder / "pages.jsonl").read_text().splitlines()}
    seen |= {SAME_PAGE[name] for name in seen & SAME_PAGE.keys()}
    ours = {
        route.name
        for route in http_routes()
        if route.name and not route.pattern.startswith(("accounts/", "admin/", "api/v1/"))
    }
    return sorted(ours - NO_PAGE - seen)


def broken_rules(folder: Path) -> list[str]:
    """Return a line for each page in the folder: its name, and how many rules axe saw broken in light and in dark."""
    pages = [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]
    return [
        f"{page['name']}: {', '.join(f'{count} {scheme}' for scheme, count in page['axe'].items()) or 'not looked at'}"
        for page in sorted(pages, key=lambda page: page["name"])
    ]


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures and return the exit status."""
    parser = argparse.ArgumentParser(description="Picture every page.")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "shots", help="default: var/shots")
    parser.add_argument("--docs", action="store_true", help="copy the pictures of README and docs, too")
    chosen = parser.parse_args(arguments)
    folder: Path = chosen.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pages.jsonl").write_text("")
    os.environ["SHOTS"] = str(folder)
    os.chdir(ROOT)
    status = int(pytest.main(["-q", *TESTS]))
    if missing := unseen(folder):
        print(f"No picture of: {', '.join(missing)}.", file=sys.stderr)
    if chosen.docs:
        for name, picture in DOCS.items():
            shutil.copyfile(folder / f"{picture}-window.png", ROOT / "docs" / "images" / f"{name}.png")
    print("Rules of axe that each page breaks:", *broken_rules(folder), sep="\n")
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 1 if status or missing else 0


if __name__ == "__main__":
    sys.exit(main())
