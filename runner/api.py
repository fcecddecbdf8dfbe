"""API: how the runner stands, for monitors; the figures of the operations page."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.scopes import OPERATIONS, HasScope
from runner.operations import operations


class QueueSerializer(serializers.Serializer[object]):
    """A queue; `later` of those that wait do so for a later try."""

    name = serializers.CharField()
    waiting = serializers.IntegerField()
    running = serializers.IntegerField()
    later = serializers.IntegerField()
    oldest_seconds = serializers.FloatField(allow_null=True)


class WarmSerializer(serializers.Serializer[object]):
    """Boxes that wait for a job, of one environment."""

    environment = serializers.CharField()
    boxes = serializers.IntegerField()


class WorkerSerializer(serializers.Serializer[object]):
    """A worker as it last said of itself; `trouble` is empty when it can execute."""

    name = serializers.CharField()
    queues = serializers.ListField(child=serializers.CharField())
    seen_at = serializers.DateTimeField()
    silent = serializers.BooleanField()
    trouble = serializers.CharField()
    engine = serializers.CharField()
    kernel = serializers.CharField()
    modes = serializers.DictField(child=serializers.CharField())
    pool = WarmSerializer(many=True)


class ImageSerializer(serializers.Serializer[object]):
    """An environment's image, the hosts that have it and those that do not."""

    environment = serializers.CharField()
    digest = serializers.CharField()
    size_bytes = serializers.IntegerField(allow_null=True)
    hosts = serializers.ListField(child=serializers.CharField())
    lacking = serializers.ListField(child=serializers.CharField())


class FaultSerializer(serializers.Serializer[object]):
    """A reason for which tries ended by our fault within the last day, and how many executions stayed unjudged by it."""

    reason = serializers.CharField()
    times = serializers.IntegerField()
    unjudged = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class StageSerializer(serializers.Serializer[object]):
    """Seconds of a stage; null where nothing was measured."""

    stage = serializers.CharField()
    hour_p50 = serializers.FloatField(allow_null=True)
    hour_p95 = serializers.FloatField(allow_null=True)
    day_p50 = serializers.FloatField(allow_null=True)
    day_p95 = serializers.FloatField(allow_null=True)


class QueueTimesSerializer(serializers.Serializer[object]):
    """How long a queue's executions took, and of how many finished ones that is."""

    name = serializers.CharField()
    hour = serializers.IntegerField()
    day = serializers.IntegerField()
    stages = StageSerializer(many=True)


class OperationsSerializer(serializers.Serializer[object]):
    """How the runner stands at a moment."""

    at = serializers.DateTimeField()
    queues = QueueSerializer(many=True)
    workers = WorkerSerializer(many=True)
    images = ImageSerializer(many=True)
    faults = FaultSerializer(many=True)
    unjudged = serializers.IntegerField(source="unjudged_count")
    times = QueueTimesSerializer(many=True)


class OperationsView(APIView):
    """How the runner stands: queues, workers, images, failures of the last day, times by stage."""

    scope = OPERATIONS
    permission_classes = [HasScope]

    @extend_schema(operation_id="operations", responses=OperationsSerializer)
    def get(self, _request: Request, **_place: str) -> Response:
        """Queues, workers, images, failures of the last day and times by stage, as they are now."""
        return Response(OperationsSerializer(operations()).data)
