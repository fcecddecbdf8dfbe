"""README and docs tell the truth: settings, commands, targets and links that they name exist, and none is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OUR_APPS = ("runner", "examples", "annotation")
# Django's own commands that the pages may name.
DJANGO_COMMANDS = {
    "migrate",
    "createsuperuser",
    "collectstatic",
    "makemigrations",
    "check",
    "shell",
    "dumpdata",
}


def settings_read() -> set[str]:
    """Return the names that config/settings.py asks the environment for."""
    tree = ast.parse((ROOT / "config" / "settings.py").read_text())
    return {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "env"
        and isinstance(call.args[0], ast.Constant)
    }


def section(page: str, heading: str) -> str:
    """Return the text under a heading of the second level, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    assert found, f"the section {heading!r} is missing"
    return found[1]


def test_operators_page_lists_every_setting_and_no_other():
    page = (ROOT / "docs" / "operators.md").read_text()
    listed = re.findall(r"^\| `([A-Z_]+)` \|", section(page, "Settings"), re.M)
    assert sorted(listed) == sorted(settings_read())


def test_readme_and_docs_name_only_make_targets_that_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        named = set(re.findall(r"(?:^|`|&& )make ([a-z]+)", page.read_text(), re.M))
        assert named <= targets, f"{page.name} names {sorted(named - targets)}"


def test_readme_names_the_two_commands():
    named = re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / "README.md").read_text(), re.M)
    assert {"run", "test"} <= set(named)


def test_docs_name_only_management_commands_that_exist():
    known = set(get_commands())
    for page in PAGES:
        named = set(re.findall(r"manage\.py ([a-z_]+)", page.read_text()))
        assert named <= known, f"{page.name} names {sorted(named - known)}"


def test_every_management_command_of_ours_is_in_the_docs():
    ours = {name for name, app in get_commands().items() if app in OUR_APPS}
    named = {name for page in PAGES for name in re.findall(r"manage\.py ([a-z_]+)", page.read_text())}
    assert sorted(ours - named) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_of_a_page_lead_somewhere(page: Path):
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.sh")), ids=lambda path: path.name)
def test_a_script_called_by_another_can_be_executed(script: Path):
    called = any(f"scripts/{script.name}" in other.read_text() for other in (ROOT / "scripts").glob("*.sh"))
    sourced = script.name == "say.sh"
    assert sourced or not called or script.stat().st_mode & 0o111


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\]\(([^)]+)\)", (folder / "README.md").read_text()))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}


def tree() -> str:
    """Return the picture of the tree in docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    return page.split("```")[1]


@pytest.mark.parametrize("app", ["config", *OUR_APPS, "scripts"])
def test_architecture_page_names_every_module_and_none_that_is_gone(app: str):
    block = re.search(rf"^{app}/ .*\n((?:  .*\n)+)", tree(), re.M)
    assert block, f"{app}/ is not in the tree"
    left_of_words = [re.split(r"\s{2,}", line.strip())[0] for line in block[1].splitlines()]
    named = {word for part in left_of_words for word in part.split()}
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / app).iterdir()
        if path.name not in ("__init__.py", "__pycache__", "apps.py", "migrations", "management")
    }
    assert sorted(there - named) == [], "not in docs/architecture.md"
    assert sorted(named - there) == [], "in docs/architecture.md, but gone"
