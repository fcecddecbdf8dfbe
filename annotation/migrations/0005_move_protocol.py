"""Every study gets its protocol 1 from its own columns, and every attempt the protocol of its study."""

from django.db import migrations

MOVED = (
    "solvers",
    "seed",
    "shows_visible_tests",
    "active_limit_seconds",
    "idle_limit_seconds",
    "submissions",
    "difficulty_levels",
    "guidelines",
)


def to_protocols(apps, schema_editor):
    """Write protocol 1 of each study that has none, frozen when the study opened."""
    Study, Protocol = apps.get_model("annotation", "Study"), apps.get_model("annotation", "Protocol")
    Attempt = apps.get_model("annotation", "Attempt")
    for study in Study.objects.filter(protocols=None):
        protocol = Protocol.objects.create(
            study=study,
            number=1,
            frozen_at=study.opened_at,
            created_by_id=study.created_by_id,
            created_at=study.created_at,
            **{name: getattr(study, name) for name in MOVED},
        )
        Attempt.objects.filter(slot__study=study, protocol=None).update(protocol=protocol)


def to_studies(apps, schema_editor):
    """Write the values of each study's latest protocol back to its columns."""
    Study, Protocol = apps.get_model("annotation", "Study"), apps.get_model("annotation", "Protocol")
    for protocol in Protocol.objects.order_by("number"):
        Study.objects.filter(pk=protocol.study_id).update(**{name: getattr(protocol, name) for name in MOVED})


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_protocol")]

    operations = [migrations.RunPython(to_protocols, to_studies)]
