"""Addresses of results, releases, adjudication, tokens and exports."""

from __future__ import annotations

from django.urls import path, re_path

from annotation.views import adjudication, fairness, fixing, leaderboard, releases, replay, results, tokens
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
    path("adjudication/<int:version>/second/", adjudication.second_reader, name="second_reader"),
    path("adjudication/<int:version>/assess/", adjudication.assess_solution, name="assess_solution"),
    path("adjudication/<int:version>/execute/", adjudication.execute_solutions, name="execute_solutions"),
    path(
        "adjudication/<int:version>/alternatives/<int:pk>/withdraw/",
        adjudication.alternative_withdraw,
        name="alternative_withdraw",
    ),
    path("adjudication/<int:version>/fix/", fixing.fix_new, name="fix_new"),
    path("adjudication/fixes/<int:pk>/", fixing.fix, name="fix"),
    path("adjudication/fixes/<int:pk>/execute/", fixing.fix_execute, name="fix_execute"),
    path("adjudication/fixes/<int:pk>/accept/", fixing.fix_accept, name="fix_accept"),
    path("adjudication/fixes/<int:pk>/discard/", fixing.fix_discard, name="fix_discard"),
    path("studies/<slug:name>/fairness/", fairness.study_fairness, name="study_fairness"),
    path("studies/<slug:name>/fairness/execute/", fairness.fairness_execute, name="fairness_execute"),
    re_path(
        r"^studies/(?P<name>[-\w]+)/fairness/(?P<table>findings|matrix|decisions)\.(?P<style>csv|jsonl)$",
        fairness.fairness_export,
        name="fairness_export",
    ),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<slug:key>/revoke/", tokens.token_revoke, name="token_revoke"),
]
