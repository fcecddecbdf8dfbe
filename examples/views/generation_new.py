"""GENERATE: start a run over pasted code or a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from config.access import curator_required
from config.http import HttpRequest, render_page
from examples.generation.fragments.base import LeftOut, Reason, SourceFile, SourceRefused
from examples.generation.fragments.reading import read_stream, read_text
from examples.generation.fragments.runs import plain_run
from examples.generation.fragments.screening import OUTSIDE, Wanted
from examples.generation.fragments.taking import take_fragments
from examples.generation.running import finish_run
from examples.generation.runs import RunRefused, go_on, start_run
from examples.generation_forms import UPLOAD_BYTES, NewRunForm, too_large
from examples.models import Dataset, GenerationRun

FORM_BYTES = 2 << 20  # what the other fields may take, pasted code among them
OFFERED = 200
MOST_FILES, MOST_CHARACTERS = 2_000, 16 << 20  # what is looked at while somebody waits for the page


@csrf_exempt  # only as far as the length: `_new` is protected, and reads nothing before
@require_http_methods(["GET", "POST"])
@curator_required
def generation_new(request: HttpRequest) -> HttpResponse:
    """Show the form; start a run. A file that is too long is refused before it is taken apart."""
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    if request.method == "POST" and length.isdecimal() and int(length) > UPLOAD_BYTES + FORM_BYTES:
        return _page(request, NewRunForm(), refusal=too_large(), status=413)
    return _new(request)


@csrf_protect
def _new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, NewRunForm(initial={"dataset": request.GET.get("dataset", "")[:50]}))
    form = NewRunForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            run = _start(form, by=request.user)
        except SourceRefused as refusal:
            form.add_error("file" if form.cleaned_data["file"] else "code", str(refusal))
        except RunRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            return HttpResponseRedirect(reverse("generation_run", args=[run.name]))
    return _page(request, form, status=422)


def _start(form: NewRunForm, *, by: Any) -> GenerationRun:
    """Read the source, which may be refused, before anything is saved; then make the run and let it go on."""
    values = form.cleaned_data
    files = list(_bounded(_files(values)))
    plain = values["path"] == GenerationRun.Path.PLAIN
    wanted = Wanted(
        refused=frozenset(set(OUTSIDE) - {Reason(each) for each in values["allow"]}), doctests=plain
    )
    run = _plain_run(values, by) if plain else _model_run(form, by)
    take_fragments(run, files, wanted, by=by)
    if not go_on(run):
        finish_run(run)
    return run


def _plain_run(values: dict[str, Any], by: Any) -> GenerationRun:
    return plain_run(
        values["name"],
        dataset=values["dataset"],
        environment=values["environment"].name,
        review=values["review"],
        by=by,
    )


def _model_run(form: NewRunForm, by: Any) -> GenerationRun:
    values = form.cleaned_data
    dataset, _ = Dataset.objects.get_or_create(
        name=values["dataset"],
        defaults={"title": values["dataset"], "source": "generation", "created_by": by},
    )
    return start_run(
        values["name"], dataset=dataset, environment=values["environment"], options=form.options, by=by
    )


def _files(values: dict[str, Any]) -> Iterator[SourceFile | LeftOut]:
    function, licence = values["function"].strip(), values["licence"].strip()
    file = values["file"]
    if file:
        yield from read_stream(file.file, file.name, function=function, licence=licence)
    else:
        text = values["code"].replace("\r\n", "\n")
        yield read_text(text, path="pasted.py", function=function, licence=licence)


def _bounded(files: Iterator[SourceFile | LeftOut]) -> Iterator[SourceFile | LeftOut]:
    """Yield the files, as many as one request may look at. Raises SourceRefused."""
    characters = 0
    for number, each in enumerate(files, start=1):
        characters += len(each.text) if isinstance(each, SourceFile) else 0
        if number > MOST_FILES or characters > MOST_CHARACTERS:
            raise SourceRefused(
                f"It holds more than {MOST_FILES:,} files or {MOST_CHARACTERS >> 20} MiB of code. "
                "Use manage.py find_fragments for it, or send a part."
            )
        yield each


def _page(request: HttpRequest, form: NewRunForm, *, refusal: str = "", status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "refusal": refusal,
        "datasets": Dataset.objects.values_list("name", flat=True)[:OFFERED],
        "most": UPLOAD_BYTES,
    }
    return render_page(request, "examples/generation/new.html", context, status=status)
