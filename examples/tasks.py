"""Celery: import uploaded files, check versions that wait for it, build environments and tidy up behind them."""

from __future__ import annotations

from time import monotonic

from celery import shared_task
from django.conf import settings

from examples import environments
from examples.checking.repeating import due_repeats, run_repeats
from examples.checking.run import check_version, waiting
from examples.evaluation.scoring import left_scoring, score_evaluation
from examples.generation.running import generate
from examples.generation.waking import waiting_fragments
from examples.importing.store import waiting_reports
from examples.importing.uploads import run_import
from examples.models import Evaluation
from runner import builds, obstacles
from runner.models import Build, Suite

TURN_SECONDS = 5
AT_ONCE = 2


@shared_task(queue="bulk", name="examples.check_waiting")
def check_waiting() -> int:
    """Check waiting versions for one turn and return how many; what is left comes with the next wake-up.

    None where this host can execute nothing: a check would wait for the engine in the place of imports.
    """
    if obstacles.trouble():
        return 0
    end = monotonic() + TURN_SECONDS
    done = 0
    for version_id in waiting(at_most=50):
        done += check_version(version_id) is not None
        if monotonic() >= end:
            break
    return done


@shared_task(queue="bulk", name="examples.repeat")
def repeat(request_id: int) -> None:
    """Execute a reference as often as somebody asked for, unless another worker is at it or this host cannot."""
    if not obstacles.trouble():
        run_repeats(request_id)


@shared_task(queue="bulk", name="examples.import_file")
def import_file(report_id: int) -> None:
    """Import an uploaded file, unless another worker has it; goes on behind the records that are in already."""
    run_import(report_id)


@shared_task(queue="bulk", name="examples.score")
def score(evaluation_id: int) -> None:
    """Ask for an execution of each sample that has none; what two workers ask at once is asked once."""
    score_evaluation(Evaluation.objects.get(pk=evaluation_id))


@shared_task(queue="bulk", name="examples.build_environment")
def build_environment(build_id: int) -> None:
    """Build an environment that was asked for, unless another worker has it; then remove images it took the place of."""
    built = builds.run_build(build_id)
    if built is not None and built.state == Build.State.BUILT:
        environments.sweep()


@shared_task(queue="bulk", name="examples.look_at_mirror")
def look_at_mirror() -> None:
    """Look at what the Debian mirror offers, where somebody asked for that."""
    builds.look_at_suites()


@shared_task(queue="bulk", name="examples.sweep_images")
def sweep_images() -> None:
    """Remove the images that nothing names any more."""
    environments.sweep()


def wake_bulk_work() -> None:
    """Wake a worker for each import, build and scoring that waits, and as many as may check or repeat at once.

    Called every few seconds: whatever a queue has lost is found here.
    """
    for report_id in waiting_reports():
        import_file.delay(report_id)
    for build_id in builds.due_builds():
        build_environment.delay(build_id)
    if Suite.objects.due().exists():
        look_at_mirror.delay()
    for evaluation_id in left_scoring():
        score.delay(evaluation_id)
    for request_id in due_repeats(at_most=AT_ONCE):
        repeat.delay(request_id)
    for _ in waiting(at_most=AT_ONCE):
        check_waiting.delay()


@shared_task(queue="generation", name="examples.generate_fragment")
def generate_fragment(fragment_id: int) -> None:
    """Bring a fragment to its end, unless another worker has it or this host can execute nothing; then the next."""
    if obstacles.trouble():
        return
    if generate(fragment_id) is not None:
        wake_generation()


@shared_task(queue="generation", name="examples.wake_generation")
def wake_generation() -> None:
    """Wake as many workers as may ask at once, for the fragments that wait longest."""
    for fragment_id in waiting_fragments(at_most=settings.LLM_CONCURRENCY):
        generate_fragment.delay(fragment_id)
