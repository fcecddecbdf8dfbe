"""Pages of this app; a name is the view's, and the partial's where there is one."""

from __future__ import annotations

from django.urls import path

from annotation.views import accounts, home, operating, presence, second, studies, verdict, work, workspace

urlpatterns = [
    path("", home.home, name="home"),
    path("about/", home.about, name="about"),
    path("account/", accounts.account, name="account"),
    path("people/", accounts.people, name="people"),
    path("people/new/", accounts.person_new, name="person_new"),
    path("people/<int:pk>/role/", accounts.person_role, name="person_role"),
    path("people/<int:pk>/active/", accounts.person_active, name="person_active"),
    path("people/<int:pk>/reset/", accounts.person_reset, name="person_reset"),
    path("invitations/", accounts.invitations, name="invitations"),
    path("invitations/<int:pk>/withdraw/", accounts.invitation_withdraw, name="invitation_withdraw"),
    path("join/<str:token>/", accounts.join, name="join"),
    path("work/", work.work, name="work"),
    path("work/<slug:name>/next/", work.next_example, name="next_example"),
    path("work/<slug:name>/guidelines/", work.guidelines, name="guidelines"),
    path("attempts/<int:pk>/", workspace.workspace, name="workspace"),
    path("attempts/<int:pk>/execution/", workspace.execution, name="execution"),
    path("attempts/<int:pk>/changes/", workspace.run_changes, name="run_changes"),
    path("attempts/<int:pk>/draft/", workspace.draft, name="draft"),
    path("attempts/<int:pk>/run/", workspace.run, name="run"),
    path("attempts/<int:pk>/scratch/", workspace.scratch, name="scratch"),
    path("attempts/<int:pk>/submit/", workspace.submit, name="submit"),
    path("attempts/<int:pk>/give-up/", workspace.give_up_view, name="give_up"),
    path("attempts/<int:pk>/beat/", presence.beat, name="beat"),
    path("attempts/<int:pk>/paste/", presence.paste, name="paste"),
    path("attempts/<int:pk>/pause/", presence.pause, name="pause"),
    path("attempts/<int:pk>/resume/", presence.resume, name="resume"),
    path("attempts/<int:pk>/verdict/", verdict.verdict, name="verdict"),
    path("attempts/<int:pk>/verdict/draft/", verdict.verdict_draft, name="verdict_draft"),
    path("attempts/<int:pk>/second/", second.second_judgement, name="second_judgement"),
    path("operations/executions/<int:pk>/again/", operating.try_again, name="try_again"),
    path("studies/", studies.studies, name="studies"),
    path("studies/new/", studies.study_new, name="study_new"),
    path("studies/preview/", studies.markdown_preview, name="markdown_preview"),
    path("studies/<slug:name>/", studies.study, name="study"),
    path("studies/<slug:name>/edit/", studies.study_edit, name="study_edit"),
    path("studies/<slug:name>/state/", studies.study_state, name="study_state"),
    path("studies/<slug:name>/solvers/", studies.study_solvers, name="study_solvers"),
    path("studies/<slug:name>/versions/", studies.study_versions, name="study_versions"),
    path("studies/<slug:name>/versions/<int:pk>/out/", studies.study_version_out, name="study_version_out"),
    path("studies/<slug:name>/people/", studies.study_people, name="study_people"),
    path("studies/<slug:name>/people/<int:pk>/out/", studies.study_person_out, name="study_person_out"),
    path("studies/<slug:name>/slots/<int:pk>/release/", studies.slot_release, name="slot_release"),
]
