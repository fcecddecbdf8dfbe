"""Addresses of results, releases, adjudication, tokens and exports."""

from __future__ import annotations

from django.urls import path, re_path

from annotation.views import adjudication, leaderboard, releases, replay, results, tokens
from examples.views.exports import dataset_export

RELEASE = r"^releases/(?P<name>[-\w]+)/(?P<number>\d+\.\d+\.\d+)"

urlpatterns = [
    path("studies/<slug:name>/results/", results.results, name="study_results"),
    path("studies/<slug:name>/attempts/", replay.study_attempts, name="study_attempts"),
    path("attempts/<int:pk>/replay/", replay.replay, name="replay"),
    path("attempts/<int:pk>/replay/events.jsonl", replay.replay_events, name="replay_events"),
    path("attempts/<int:pk>/verdict/reopen/", replay.verdict_reopen, name="verdict_reopen"),
    path("studies/<slug:name>/results/codebook.md", results.study_codebook, name="study_codebook"),
    re_path(
        r"^studies/(?P<name>[-\w]+)/results/(?P<table>\w+)\.(?P<style>csv|jsonl)$",
        results.export_rows,
        name="study_export",
    ),
    path("evaluations/leaderboard/", leaderboard.board, name="leaderboard"),
    re_path(
        r"^evaluations/leaderboard\.(?P<style>csv|json)$", leaderboard.board_file, name="leaderboard_file"
    ),
    path("releases/", releases.releases, name="releases"),
    path("releases/new/", releases.release_new, name="release_new"),
    re_path(rf"{RELEASE}/$", releases.release, name="release"),
    re_path(rf"{RELEASE}/freeze/$", releases.release_freeze, name="release_freeze"),
    re_path(rf"{RELEASE}/leave-out/$", releases.release_leave_out, name="release_leave_out"),
    re_path(rf"{RELEASE}/discard/$", releases.release_discard, name="release_discard"),
    re_path(rf"{RELEASE}/files/(?P<file>[-\w.]+)$", releases.release_file, name="release_file"),
    re_path(rf"{RELEASE}/all\.tar$", releases.release_tar, name="release_tar"),
    path("datasets/<slug:name>/export/<slug:style>.jsonl", dataset_export, name="dataset_export"),
    path("adjudication/", adjudication.adjudication, name="adjudication"),
    path("adjudication/submissions/<int:run>/", adjudication.rule_on, name="rule_on"),
    path("adjudication/<int:version>/", adjudication.adjudicate, name="adjudicate"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<slug:key>/revoke/", tokens.token_revoke, name="token_revoke"),
]
