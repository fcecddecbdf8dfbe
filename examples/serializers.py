"""API: the shapes of datasets, examples and releases."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from examples.models import Check, Dataset, Example, Release, ReleaseFile, Split, Version


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset with the number of its examples."""

    examples = serializers.IntegerField(source="example_count", read_only=True)

    class Meta:
        model = Dataset
        fields = (
            "name",
            "title",
            "licence",
            "source",
            "provenance",
            "cpu_limit_seconds",
            "examples",
            "created_at",
        )


class CheckSerializer(serializers.ModelSerializer[Check]):
    """A check with its finding and evidence."""

    class Meta:
        model = Check
        fields = ("name", "state", "finding", "evidence", "checked_at")


class VersionSummarySerializer(serializers.ModelSerializer[Version]):
    """What a list says of a version."""

    class Meta:
        model = Version
        fields = ("number", "focal_name", "check_state", "failed_checks", "content_hash", "created_at")


class VersionSerializer(serializers.ModelSerializer[Version]):
    """A version with its whole content and its checks."""

    environment: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(
        slug_field="name", read_only=True
    )
    image = serializers.CharField(source="environment.image_digest", read_only=True)
    checks = CheckSerializer(many=True, read_only=True)

    class Meta:
        model = Version
        fields = (
            *VersionSummarySerializer.Meta.fields,
            "language",
            "environment",
            "image",
            "instruction",
            "context",
            "gap",
            "reference",
            "segments",
            "block",
            "expected",
            "visible",
            "cpu_limit_seconds",
            "note",
            "checks",
        )


class ExampleSerializer(serializers.ModelSerializer[Example]):
    """An example as a list shows it."""

    dataset: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(
        slug_field="name", read_only=True
    )
    licence = serializers.CharField(source="known_licence", read_only=True)
    libraries: serializers.Field[Any, Any, Any, Any] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    current: serializers.ModelSerializer[Version] = VersionSummarySerializer(read_only=True)

    class Meta:
        model = Example
        fields = (
            "id",
            "label",
            "dataset",
            "key",
            "title",
            "repository",
            "licence",
            "libraries",
            "status",
            "status_reason",
            "current",
            "created_at",
        )


class ExampleDetailSerializer(ExampleSerializer):
    """An example with the content of its current version."""

    current = VersionSerializer(read_only=True)

    class Meta(ExampleSerializer.Meta):
        fields = (*ExampleSerializer.Meta.fields, "provenance")  # type: ignore[assignment] # one field more


class SplitSerializer(serializers.ModelSerializer[Split]):
    """A split: how many examples, and its file with size and hash."""

    release = serializers.CharField(source="release.__str__", read_only=True)
    examples = serializers.IntegerField(source="example_count", read_only=True)
    file = serializers.CharField(source="file.name", read_only=True)
    size_bytes = serializers.IntegerField(source="file.size_bytes", read_only=True)
    sha256 = serializers.CharField(source="file.sha256", read_only=True)

    class Meta:
        model = Split
        fields = ("release", "name", "share", "held_out", "examples", "file", "size_bytes", "sha256")


class ReleaseFileSerializer(serializers.ModelSerializer[ReleaseFile]):
    """A file of a release."""

    class Meta:
        model = ReleaseFile
        fields = ("name", "size_bytes", "sha256")


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A frozen release."""

    class Meta:
        model = Release
        fields = ("name", "number", "seed", "licence", "notes", "canary", "manifest_sha256", "frozen_at")


class ReleaseDetailSerializer(ReleaseSerializer):
    """A frozen release with the files the reader may download."""

    files = serializers.SerializerMethodField()

    class Meta(ReleaseSerializer.Meta):
        fields = (*ReleaseSerializer.Meta.fields, "files")  # type: ignore[assignment] # one field more

    def get_files(self, release: Release) -> list[dict[str, Any]]:
        """Return the files visible to whoever asks."""
        files = release.files.visible_to(self.context["request"].user).defer("content")
        return list(ReleaseFileSerializer(files, many=True).data)
