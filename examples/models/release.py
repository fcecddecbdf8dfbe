"""Releases, their splits, items and files."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.db.models.functions import Now

from config.access import Person, Role
from examples.models.example import Version


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Which releases."""

    def visible_to(self, user: Person) -> ReleaseQuerySet:
        """Curators see all, readers what is frozen, others none."""
        if not user.is_authenticated:
            return self.none()
        if user.curates:
            return self.all()
        return self.frozen() if user.role == Role.READER else self.none()

    def frozen(self) -> ReleaseQuerySet:
        """Published: they never change again."""
        return self.filter(state=Release.State.FROZEN)


class Release(models.Model):
    """A named, versioned publication of splits; once frozen it never changes again (triggers refuse it)."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        FROZEN = "frozen", "frozen"

    name = models.SlugField()
    number = models.CharField(max_length=30, help_text="semantic version, such as 1.0.0")
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    seed = models.PositiveIntegerField(default=0)
    notes = models.TextField(blank=True)
    licence = models.CharField(max_length=100, blank=True)
    canary = models.CharField(max_length=120, blank=True)
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    frozen_at = models.DateTimeField(null=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["name", "-pk"]
        constraints = [
            UniqueConstraint(F("name"), F("number"), name="release_name_number"),
            CheckConstraint(
                condition=Q(state="draft", frozen_at=None, manifest_sha256="")
                | (Q(state="frozen", frozen_at__isnull=False) & ~Q(manifest_sha256="") & ~Q(canary="")),
                name="release_hash_iff_frozen",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class SplitQuerySet(models.QuerySet["Split"]):
    """Which splits."""

    def visible_to(self, user: Person) -> SplitQuerySet:
        """Those of the releases a person sees; held-out ones only for curators."""
        seen = self.filter(release__in=Release.objects.visible_to(user))
        return seen if user.is_authenticated and user.curates else seen.filter(held_out=False)


class Split(models.Model):
    """A named, seeded, by-repository selection of versions within a release (train, dev, test, held-out)."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="splits")
    name = models.SlugField(max_length=40)
    share = models.FloatField(help_text="part of the examples, 0 to 1")
    held_out = models.BooleanField(default=False, help_text="kept private: curators only")

    objects = SplitQuerySet.as_manager()

    class Meta:
        ordering = ["release", "pk"]
        constraints = [
            UniqueConstraint(F("release"), F("name"), name="split_release_name"),
            CheckConstraint(condition=Q(share__gte=0) & Q(share__lte=1), name="split_share_is_part"),
        ]

    def __str__(self) -> str:
        return self.name


class ReleaseItem(models.Model):
    """One version in one split of a release; `line` is its frozen text, `sha256` that line's hash."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="items")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="items")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="release_items")
    position = models.PositiveIntegerField()
    line = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["release", "position"]
        constraints = [
            UniqueConstraint(F("release"), F("version"), name="releaseitem_release_version"),
            UniqueConstraint(F("release"), F("position"), name="releaseitem_release_position"),
        ]

    def __str__(self) -> str:
        return f"{self.split} {self.position}"


class ReleaseFileQuerySet(models.QuerySet["ReleaseFile"]):
    """Which files."""

    def visible_to(self, user: Person) -> ReleaseFileQuerySet:
        """Those of the releases a person sees; the file of a held-out split only for curators."""
        seen = self.filter(release__in=Release.objects.visible_to(user))
        return seen if user.is_authenticated and user.curates else seen.exclude(split__held_out=True)


class ReleaseFile(models.Model):
    """A file of a frozen release, with its hash; a split's file has its text in the lines of its items."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="files")
    split = models.OneToOneField(Split, null=True, on_delete=models.CASCADE, related_name="file")
    name = models.CharField(max_length=60)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.TextField(blank=True)

    objects = ReleaseFileQuerySet.as_manager()

    class Meta:
        ordering = ["release", "name"]
        constraints = [
            UniqueConstraint(F("release"), F("name"), name="releasefile_release_name"),
            CheckConstraint(
                condition=Q(split=None) | Q(content=""), name="releasefile_split_is_in_its_items"
            ),
        ]

    def __str__(self) -> str:
        return self.name
