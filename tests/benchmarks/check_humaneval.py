"""HumanEval's 164 references through the product: imported, checked in containers; 164 of 164 must pass.

    python -m tests.benchmarks.check_humaneval

Exit 1 where a reference does not pass all its repeats.
"""

from __future__ import annotations

import sys

from tests.benchmarks.figures import machine
from tests.benchmarks.prepared import check_all, database, prepare, provide_environments
from tests.benchmarks.records import data_file, load


def main() -> int:
    """Import, check, print the figures; return the exit status."""
    prepare()
    print(f"{database()}; {machine()}")
    from examples.models import Check, Version

    provide_environments()
    report = load(data_file("humaneval/HumanEval.jsonl.gz"), "humaneval")
    print(f"{report.read} read, {report.added} added, {report.problem_count} with problems")
    seconds = check_all(list(Version.objects.order_by("pk").values_list("pk", flat=True)))
    print(
        f"{report.added} versions, 6 executions each, in {seconds:.1f} s: {6 * report.added / seconds:.1f} executions/s, load included"
    )
    for name in ("reference", "empty_body", "tests_ran", "stable", "network", "environment", "licence"):
        passed = Check.objects.filter(name=name, state="passed").count()
        print(f"{name:12} {passed} of {report.added} passed")
    for check in Check.objects.exclude(state="passed").select_related("version__example"):
        print(f"{check.version.example.key}: {check.name} {check.state}: {check.finding[:140]}")
    return 0 if Check.objects.filter(name="reference", state="passed").count() == 164 else 1


if __name__ == "__main__":
    status = main()
    from runner import boxes

    boxes.close()
    sys.exit(status)
