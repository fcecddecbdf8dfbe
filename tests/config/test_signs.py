"""Signs: every outcome and state is a glyph and a word, and nothing foreign gets through unescaped."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.template import Context, Template

from config.parts import signs
from runner.outcome import Outcome


def shown(source: str, **context: object) -> str:
    return Template(source).render(Context(context))


def test_every_outcome_has_a_sign_of_its_own_word() -> None:
    words = [signs.OUTCOMES[outcome].word for outcome in Outcome]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("outcome", [o for o in Outcome if o not in (Outcome.PASSED, Outcome.NOT_RUN)])
def test_every_outcome_but_passed_and_not_run_is_bad(outcome: Outcome) -> None:
    assert 'class="oc bad"' in shown("{% outcome it %}", it=outcome)


def test_an_outcome_is_glyph_and_word() -> None:
    html = shown("{% outcome it %}", it="PASSED")
    assert 'class="oc ok"' in html
    assert '<use href="#g-pass"/>' in html
    assert "passed" in html


def test_unjudged_is_ours_and_never_bad() -> None:
    html = shown("{% outcome it %}", it=SimpleNamespace(state="unjudged", outcome="", tampered=False))
    assert 'class="oc warn"' in html
    assert "bad" not in html


@pytest.mark.parametrize(("state", "word"), [("queued", "queued"), ("running", "running")])
def test_an_open_execution_shows_its_state(state: str, word: str) -> None:
    assert word in shown("{% outcome it %}", it=SimpleNamespace(state=state, outcome="", tampered=False))


def test_a_finished_execution_shows_its_outcome() -> None:
    finished = SimpleNamespace(state="finished", outcome="TIMEOUT_CPU", tampered=False)
    assert "timeout (CPU)" in shown("{% outcome it %}", it=finished)


@pytest.mark.parametrize("user", [None, SimpleNamespace(curates=False)])
def test_an_annotator_reads_that_a_flagged_execution_could_not_be_confirmed(user: object) -> None:
    flagged = SimpleNamespace(state="finished", outcome="PASSED", tampered=True)
    html = shown("{% outcome it %}", it=flagged, user=user)
    assert "could not be confirmed" in html
    assert "passed" not in html
    assert "tampered" not in html


def test_a_curator_reads_that_a_flagged_execution_was_tampered_with() -> None:
    flagged = SimpleNamespace(state="finished", outcome="PASSED", tampered=True)
    assert "tampered" in shown("{% outcome it %}", it=flagged, user=SimpleNamespace(curates=True))


def test_an_unknown_or_missing_outcome_reads_not_run() -> None:
    assert "not run" in shown("{% outcome it %}", it="")
    assert "not run" in shown("{% outcome it %}", it=None)


def test_a_word_of_the_page_replaces_the_outcomes_own_and_is_escaped() -> None:
    assert "2 of 4 &lt;b&gt;" in shown("{% outcome it said %}", it="FAILED", said="2 of 4 <b>")


def test_every_glyph_is_in_the_sprite_once() -> None:
    sprite = signs.sprite()
    for name in signs.GLYPHS:
        assert sprite.count(f'id="g-{name}"') == 1
        assert f"#g-{name}" in signs.glyph(name)


def test_a_glyph_that_is_not_in_the_sprite_is_refused() -> None:
    with pytest.raises(ValueError, match="no glyph"):
        signs.glyph("sparkles")


def test_a_kind_the_style_sheet_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind"):
        signs.chip("x", 'ok" onclick="alert(1)')


def test_a_chip_escapes_its_text_and_its_address() -> None:
    html = shown("{% chip text 'ok' 'pass' href %}", text="<img src=x>", href='"><script>')
    assert "<img" not in html
    assert "<script>" not in html
    assert html.startswith('<a class="chip ok"')
