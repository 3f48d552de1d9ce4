"""The code in README and docs runs as printed, and names nothing that does not exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    exec(compile("\n".join(blocks), page.name, "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", file.read_text(), flags=re.MULTILINE)
            assert heading in [text.lower().replace(" ", "-") for text in headings], target


def test_readme_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)\b", (ROOT / "README.md").read_text()):
        assert f"\n{target}:" in makefile, target
