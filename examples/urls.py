"""The curator's pages over examples; config/urls.py includes them below examples/."""

from __future__ import annotations

from django.urls import path

from examples.views import datasets, deciding, detail, environments, importing, listing, proposing, rerunning

urlpatterns = [
    path("", listing.examples, name="examples"),
    path("progress/", listing.progress, name="examples_progress"),
    path("act/", listing.act, name="examples_act"),
    path("duplicates/", listing.duplicates, name="duplicates"),
    path("imports/", importing.imports, name="imports"),
    path("imports/<int:pk>/", importing.import_report, name="import_report"),
    path("imports/<int:pk>/problems.<str:form>", importing.import_problems, name="import_problems"),
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/<slug:name>/", datasets.dataset, name="dataset"),
    path("environments/", environments.environments, name="environments"),
    path("environments/new/", environments.environment_new, name="environment_new"),
    path("environments/suites/", environments.suites, name="suites"),
    path("environments/unused/", environments.remove_unused, name="environments_remove"),
    path("environments/<slug:name>/", environments.environment, name="environment"),
    path("environments/<slug:name>/build/", environments.build_again, name="environment_build"),
    path("executions/<int:pk>/", detail.check_execution, name="check_execution"),
    path("<int:pk>/", detail.example, name="example"),
    path("<int:pk>/content/", detail.content, name="example_content"),
    path("<int:pk>/versions/", detail.versions, name="example_versions"),
    path("<int:pk>/verdicts/", detail.verdicts, name="example_verdicts"),
    path("<int:pk>/environments/", rerunning.rerun, name="example_rerun"),
    path("<int:pk>/provenance/", detail.provenance, name="example_provenance"),
    path("<int:pk>/versions/new/", proposing.propose, name="propose_version"),
    path("<int:pk>/check/", deciding.run_checks, name="run_checks"),
    path("<int:pk>/repeat/", deciding.repeat_reference, name="repeat_reference"),
    path("<int:pk>/accept/", deciding.accept_example, name="accept_example"),
    path("<int:pk>/retire/", deciding.retire_example, name="retire_example"),
    path("<int:pk>/licence/", deciding.set_licence, name="set_licence"),
]
