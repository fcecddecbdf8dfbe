"""API: datasets and examples for curators, frozen releases for readers; every view reads, none writes content."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Count, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request

from config.pagination import ByCursor
from config.scopes import EXAMPLES, RELEASES, HasScope, person_of
from config.streaming import NDJSON, stream
from examples.exporting import FORMATS, export
from examples.models import Dataset, Example, Release, ReleaseFile, Split, Version, audit
from examples.releasing.documents import MANIFEST
from examples.releasing.download import file_chunks, split_chunks, sums
from examples.serializers import (
    DatasetSerializer,
    ExampleDetailSerializer,
    ExampleSerializer,
    ReleaseDetailSerializer,
    ReleaseSerializer,
    SplitSerializer,
)

NUMBER = r"[0-9]+\.[0-9]+\.[0-9]+"
LINES = OpenApiResponse(OpenApiTypes.STR, description="JSON Lines, UTF-8, one version a line, streamed")
NAME_PARAMETER = OpenApiParameter(
    "name", OpenApiTypes.STR, OpenApiParameter.PATH, description="name of the release"
)
NUMBER_PARAMETER = OpenApiParameter(
    "number", OpenApiTypes.STR, OpenApiParameter.PATH, description="such as 1.0.0"
)


class DatasetViewSet(viewsets.ReadOnlyModelViewSet[Dataset]):
    """Datasets, with licence and provenance."""

    scope = EXAMPLES
    permission_classes = [HasScope]
    queryset = Dataset.objects.annotate(example_count=Count("examples")).order_by("pk")
    serializer_class = DatasetSerializer
    pagination_class = ByCursor
    lookup_field = "name"

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "style", str, OpenApiParameter.QUERY, enum=sorted(FORMATS), default="benchwright"
            )
        ],
        responses={(200, "application/x-ndjson"): LINES},
    )
    @action(detail=True, pagination_class=None, filter_backends=[])
    def export(self, request: Request, name: str) -> HttpResponseBase:
        """The current versions of a dataset's examples, retired ones left out, as JSON Lines."""
        dataset = self.get_object()
        style = request.query_params.get("style", "benchwright")
        chunks = export(dataset.examples.all(), style)
        audit(request.user, "dataset exported", f"dataset:{dataset.pk}", style=style)
        return stream(request._request, chunks, content_type=NDJSON, filename=f"{name}.{style}.jsonl")


class ExampleFilter(django_filters.FilterSet):  # type: ignore[misc] # django-filter ships no types
    """Which examples a list shows."""

    dataset = django_filters.CharFilter(field_name="dataset__name")
    status = django_filters.ChoiceFilter(choices=Example.Status.choices)
    check_state = django_filters.ChoiceFilter(
        field_name="current__check_state", choices=Version.CheckState.choices
    )
    library = django_filters.CharFilter(field_name="libraries__name")
    repository = django_filters.CharFilter(field_name="repository")

    class Meta:
        model = Example
        fields = ("dataset", "status", "check_state", "library", "repository")


class ExampleViewSet(viewsets.ReadOnlyModelViewSet[Example]):
    """Examples; one alone comes with the whole content of its current version."""

    scope = EXAMPLES
    permission_classes = [HasScope]
    queryset = Example.objects.none()
    pagination_class = ByCursor
    filterset_class = ExampleFilter

    def get_queryset(self) -> QuerySet[Example]:
        """Return the examples the person may browse; a list leaves out the long texts."""
        seen = Example.objects.visible_to(person_of(self.request)).prefetch_related("libraries")
        if self.action == "list":
            summary = [
                f"current__{name}" for name in ("number", "focal_name", "check_state", "failed_checks")
            ]
            summary += ["current__content_hash", "current__created_at", "dataset__name", "dataset__licence"]
            own = [field.name for field in Example._meta.concrete_fields if field.name != "provenance"]
            return seen.select_related("dataset", "current").only(*own, *summary)
        return seen.select_related("dataset", "current__environment").prefetch_related("current__checks")

    def get_serializer_class(self) -> type[ExampleSerializer]:
        """Return the short shape for a list."""
        return ExampleSerializer if self.action == "list" else ExampleDetailSerializer


class ReleasesOnly(viewsets.GenericViewSet[Any]):
    """What the views of frozen releases share."""

    scope = RELEASES
    permission_classes = [HasScope]

    def frozen(self) -> QuerySet[Release]:
        """Return the frozen releases the person may download."""
        return Release.objects.visible_to(person_of(self.request)).frozen().order_by("pk")


class ReleaseViewSet(mixins.ListModelMixin, ReleasesOnly):
    """Every frozen release."""

    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer
    pagination_class = ByCursor

    def get_queryset(self) -> QuerySet[Release]:
        """Return the frozen releases."""
        return self.frozen()


@extend_schema_view(
    list=extend_schema(operation_id="release_numbers_list", parameters=[NAME_PARAMETER]),
    retrieve=extend_schema(parameters=[NAME_PARAMETER, NUMBER_PARAMETER]),
)
class NumberViewSet(viewsets.ReadOnlyModelViewSet[Release], ReleasesOnly):
    """The frozen releases of one name, by number."""

    queryset = Release.objects.none()
    pagination_class = ByCursor
    lookup_field = "number"
    lookup_value_regex = NUMBER

    def get_queryset(self) -> QuerySet[Release]:
        """Return the frozen releases of the name."""
        return self.frozen().filter(name=self.kwargs["name"])

    def get_serializer_class(self) -> type[ReleaseSerializer]:
        """Return the shape with files for one release."""
        return ReleaseSerializer if self.action == "list" else ReleaseDetailSerializer

    @extend_schema(
        parameters=[NAME_PARAMETER, NUMBER_PARAMETER],
        responses={(200, "application/json"): OpenApiTypes.OBJECT},
    )
    @action(detail=True)
    def manifest(self, request: Request, **_place: str) -> HttpResponseBase:
        """The manifest, byte for byte: seed, hash of every line, images, licences, checks, human numbers."""
        return _file(request, self.get_object().files.get(name=MANIFEST), content_type="application/json")

    @extend_schema(
        parameters=[NAME_PARAMETER, NUMBER_PARAMETER],
        responses={
            (200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, description="input of `sha256sum -c`")
        },
    )
    @action(detail=True)
    def sums(self, request: Request, **_place: str) -> HttpResponse:
        """SHA256SUMS over the files the reader may download."""
        files = self.get_object().files.visible_to(person_of(request))
        return HttpResponse(sums(files), content_type="text/plain; charset=utf-8")

    @extend_schema(
        parameters=[NAME_PARAMETER, NUMBER_PARAMETER, OpenApiParameter("file", str, OpenApiParameter.PATH)],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @action(detail=True, url_path=r"files/(?P<file>[-\w.]+)")
    def files(self, request: Request, file: str, **_place: str) -> HttpResponseBase:
        """One file of the release, byte for byte."""
        seen = self.get_object().files.visible_to(person_of(request))
        return _file(request, get_object_or_404(seen, name=file), content_type="application/octet-stream")


@extend_schema_view(
    list=extend_schema(parameters=[NAME_PARAMETER, NUMBER_PARAMETER]),
    retrieve=extend_schema(
        parameters=[NAME_PARAMETER, NUMBER_PARAMETER], responses={(200, "application/x-ndjson"): LINES}
    ),
)
class SplitViewSet(mixins.ListModelMixin, ReleasesOnly):
    """The splits of a frozen release; held-out ones only for curators."""

    queryset = Split.objects.none()
    serializer_class = SplitSerializer
    pagination_class = ByCursor
    lookup_field = "split"
    lookup_url_kwarg = "split"
    lookup_value_regex = r"[-\w]+"

    def get_queryset(self) -> QuerySet[Split]:
        """Return the splits the person may download. Raises Http404 for a release they do not see."""
        release = get_object_or_404(self.frozen(), name=self.kwargs["name"], number=self.kwargs["number"])
        seen = release.splits.visible_to(person_of(self.request)).select_related("release", "file")
        return seen.defer("file__content").annotate(example_count=Count("items")).order_by("pk")

    def retrieve(self, request: Request, split: str, **_place: str) -> HttpResponseBase:
        """The lines of a split, byte for byte what its hash says."""
        found = get_object_or_404(self.get_queryset(), name=split)
        audit(request.user, "split downloaded", f"release:{found.release_id}", split=split)
        return stream(
            request._request,
            split_chunks(found),
            content_type=NDJSON,
            filename=found.file.name,
            size_bytes=found.file.size_bytes,
            sha256=found.file.sha256,
        )


def _file(request: Request, file: ReleaseFile, *, content_type: str) -> HttpResponseBase:
    if file.split_id is not None:
        audit(request.user, "split downloaded", f"release:{file.release_id}", file=file.name)
    return stream(
        request._request,
        file_chunks(file),
        content_type=content_type,
        filename=file.name,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
    )
