"""API: the shapes of studies and their results; a share never comes without count, denominator and intervals."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import Study
from annotation.results import Results


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study, and the protocol in force."""

    people = serializers.IntegerField(source="people_count", read_only=True)
    versions = serializers.IntegerField(source="version_count", read_only=True)
    protocol = serializers.IntegerField(source="protocol.number", read_only=True)
    solvers = serializers.IntegerField(source="protocol.solvers", read_only=True)
    submissions = serializers.IntegerField(source="protocol.submissions", read_only=True)
    shows_visible_tests = serializers.BooleanField(source="protocol.shows_visible_tests", read_only=True)
    active_limit_seconds = serializers.IntegerField(source="protocol.active_limit_seconds", read_only=True)
    idle_limit_seconds = serializers.IntegerField(source="protocol.idle_limit_seconds", read_only=True)
    difficulty_levels = serializers.ListField(
        source="protocol.difficulty_levels", child=serializers.CharField(), read_only=True
    )
    seed = serializers.IntegerField(source="protocol.seed", read_only=True)

    class Meta:
        model = Study
        fields = (
            "name",
            "title",
            "state",
            "protocol",
            "solvers",
            "submissions",
            "shows_visible_tests",
            "active_limit_seconds",
            "idle_limit_seconds",
            "difficulty_levels",
            "seed",
            "people",
            "versions",
            "opened_at",
            "closed_at",
        )


class IntervalSerializer(serializers.Serializer[object]):
    """A 95 % interval of a share, 0 to 1."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class RateSerializer(serializers.Serializer[object]):
    """`count` of `total`; an interval that is null is undefined, and `cluster_reason` says why."""

    count = serializers.IntegerField()
    total = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    wilson = IntervalSerializer(allow_null=True)
    cluster = IntervalSerializer(allow_null=True)
    cluster_reason = serializers.CharField(allow_blank=True)


class FigureSerializer(serializers.Serializer[object]):
    """A rate that can stand alone: what is counted, out of what, and how many were left out for which reason."""

    name = serializers.CharField()
    denominator = serializers.CharField()
    rate = RateSerializer()
    exclusions = serializers.DictField(child=serializers.IntegerField())


class EstimateSerializer(serializers.Serializer[object]):
    """A number over n observations, or null with the reason why it is undefined."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)


class RatesSerializer(serializers.Serializer[object]):
    """The rates of a study."""

    solved = FigureSerializer()
    solved_at_first = FigureSerializer()
    within = FigureSerializer(many=True)
    versions_by_one = FigureSerializer()
    versions_by_majority = FigureSerializer()
    difficulty = FigureSerializer(many=True)


class CurvePointSerializer(serializers.Serializer[object]):
    """The curve from `seconds` on: shares of all who started."""

    seconds = serializers.FloatField()
    at_risk = serializers.IntegerField()
    solved = serializers.FloatField()
    unsolved = serializers.FloatField()
    band = IntervalSerializer(allow_null=True)


class TimesSerializer(serializers.Serializer[object]):
    """Time to solve in active seconds; giving up competes with solving and is not censored."""

    started = serializers.IntegerField()
    solved = serializers.IntegerField()
    unsolved = serializers.IntegerField()
    censored = serializers.IntegerField()
    exclusions = serializers.DictField(child=serializers.IntegerField())
    limit = serializers.FloatField()
    median = EstimateSerializer()
    restricted_mean = EstimateSerializer()
    geometric_mean = EstimateSerializer()
    share_solved = RateSerializer()
    curve = CurvePointSerializer(many=True)


class PairAgreementSerializer(serializers.Serializer[object]):
    """How many pairs of ratings of one version are equal."""

    agreeing = serializers.IntegerField()
    pairs = serializers.IntegerField()
    versions = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    wilson = IntervalSerializer(allow_null=True)


class AgreementSerializer(serializers.Serializer[object]):
    """Agreement on difficulty: per cent, Krippendorff's alpha, Gwet's AC1."""

    percent = PairAgreementSerializer()
    alpha_nominal = EstimateSerializer()
    alpha_ordinal = EstimateSerializer()
    ac1 = EstimateSerializer()


class ExampleLineSerializer(serializers.Serializer[object]):
    """One version of the study."""

    example = serializers.CharField()
    solved = RateSerializer()
    fastest = serializers.FloatField(allow_null=True)
    difficulty = serializers.DictField(child=serializers.IntegerField())
    exclusions = serializers.DictField(child=serializers.IntegerField())


class AnnotatorLineSerializer(serializers.Serializer[object]):
    """One annotator of the study, under their pseudonym."""

    pseudonym = serializers.CharField()
    solved = RateSerializer()
    active_seconds = serializers.FloatField()
    geometric_mean = EstimateSerializer()
    difficulty = serializers.DictField(child=serializers.IntegerField())
    exclusions = serializers.DictField(child=serializers.IntegerField())


class ArmSerializer(serializers.Serializer[object]):
    """What was solved in an arm."""

    arm = serializers.CharField()
    solved = RateSerializer()


class ByProtocolSerializer(serializers.Serializer[object]):
    """What was solved by attempts that began under a protocol."""

    protocol = serializers.IntegerField()
    solved = RateSerializer()


class UnderLimitSerializer(serializers.Serializer[object]):
    """Figures of time as they would be under another idle limit, in seconds."""

    idle_limit = serializers.IntegerField()
    counted_seconds = serializers.FloatField()
    median = EstimateSerializer()
    geometric_mean = EstimateSerializer()
    solved_in_time = RateSerializer()


class WithdrawnSerializer(serializers.Serializer[object]):
    """How many people left the study, and how many of them are left out of its figures at their wish."""

    people = serializers.IntegerField()
    left_out = serializers.IntegerField()


class ResultsSerializer(serializers.Serializer[object]):
    """Everything the page of a study says."""

    rates = RatesSerializer()
    times = TimesSerializer()
    agreement = AgreementSerializer()
    examples = ExampleLineSerializer(many=True)
    annotators = AnnotatorLineSerializer(many=True)
    nothing_left_out = RateSerializer()
    withdrawn = WithdrawnSerializer()
    by_arm = serializers.SerializerMethodField()
    by_protocol = serializers.SerializerMethodField()
    under_limits = UnderLimitSerializer(many=True)

    @extend_schema_field(ArmSerializer(many=True))
    def get_by_arm(self, found: Results) -> Any:
        """Return the arms that have attempts which count, in order."""
        return ArmSerializer([{"arm": arm, "solved": rate} for arm, rate in found.by_arm], many=True).data

    @extend_schema_field(ByProtocolSerializer(many=True))
    def get_by_protocol(self, found: Results) -> Any:
        """Return the protocols that have attempts which count, by number."""
        rows = [{"protocol": number, "solved": rate} for number, rate in found.by_protocol]
        return ByProtocolSerializer(rows, many=True).data
