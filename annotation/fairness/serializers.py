"""API: the shapes of a study's fairness report; undefined says why, and everything has its n."""

from __future__ import annotations

from rest_framework import serializers


class FindingSerializer(serializers.Serializer[object]):
    """Something found, with the solutions (hashes), people and executions it rests on."""

    flaw = serializers.CharField()
    sentence = serializers.CharField()
    solutions = serializers.ListField(child=serializers.CharField())
    people = serializers.ListField(child=serializers.CharField())
    executions = serializers.ListField(child=serializers.IntegerField())
    evidence = serializers.DictField()


class AnsweredSerializer(serializers.Serializer[object]):
    """A question to a version: what was found among `n` (`of` says of what); `undefined` is empty where it has an answer."""

    flaw = serializers.CharField()
    n = serializers.IntegerField()
    of = serializers.CharField()
    findings = FindingSerializer(many=True)
    undefined = serializers.CharField(allow_blank=True)


class FairVersionSerializer(serializers.Serializer[object]):
    """A version with the answer to every question; `missing` solutions were never executed with values kept."""

    version = serializers.IntegerField(source="subject.version_id")
    example = serializers.CharField(source="subject.label")
    tests = serializers.ListField(source="subject.tests", child=serializers.CharField())
    missing = serializers.IntegerField(source="subject.missing")
    open = serializers.IntegerField(source="subject.open")
    unjudged = serializers.IntegerField(source="subject.unjudged")
    answers = AnsweredSerializer(many=True)


class SummarySerializer(serializers.Serializer[object]):
    """A flaw over all versions: found in so many of those for which the question has an answer."""

    flaw = serializers.CharField()
    found = serializers.IntegerField()
    defined = serializers.IntegerField()
    total = serializers.IntegerField()


class FairnessSerializer(serializers.Serializer[object]):
    """Whether the tests of a study's versions are fair, found from what was executed."""

    summary = SummarySerializer(many=True)
    versions = FairVersionSerializer(many=True)
