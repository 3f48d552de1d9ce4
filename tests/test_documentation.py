"""The code in README and docs runs as printed, and names nothing that does not exist."""

import functools
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import ptunfold
import ptunfold.scanpy
from ptunfold import datasets, show

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    exec(compile("\n".join(blocks), page.name, "exec"), {})


def test_the_report_is_printed_as_shown(capsys):
    page = (ROOT / "docs" / "trust.md").read_text()
    code, shown = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", page, re.DOTALL).groups()
    exec(compile(code, "trust.md", "exec"), {})
    number = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?"
    words, numbers = zip(
        *(
            (re.sub(number, "#", text).split(), re.findall(number, text))
            for text in (shown, capsys.readouterr().out)
        ),
        strict=True,
    )
    assert words[0] == words[1]
    shown, printed = ([float(one.replace(",", "")) for one in each] for each in numbers)
    assert printed == pytest.approx(shown, rel=0.02, abs=1e-3)  # other machines round otherwise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", file.read_text(), flags=re.MULTILINE)
            assert heading in [text.lower().replace(" ", "-") for text in headings], target


def _public():
    """List what the reference has: functions and classes, and methods of these."""
    for module, names in {
        ptunfold: ptunfold.__all__,
        datasets: datasets.__all__,
        show: [name for name, one in vars(show).items() if _is_of(one, show)],
        ptunfold.scanpy: ["ptu"],
    }.items():
        for name in names:
            yield f"{module.__name__}.{name}", getattr(module, name)


def _is_of(one, module):
    return inspect.isfunction(one) and one.__module__ == module.__name__ and one.__name__[0] != "_"


def test_everything_public_has_an_example():
    # Which the tests run: they are doctests.
    lacking = []
    for name, one in _public():
        members = {name: one}
        if inspect.isclass(one):
            for key, member in inspect.getmembers(one, inspect.isroutine):
                is_ours = (getattr(member, "__module__", "") or "").startswith("ptunfold")
                is_value = isinstance(member, functools.cached_property)
                if is_ours and not is_value and not key.startswith("_"):
                    members[f"{name}.{key}"] = member
        lacking += [key for key, member in members.items() if ">>>" not in (member.__doc__ or "")]
    assert not lacking


def test_everything_public_is_in_the_reference():
    listed = set()
    for module, names in re.findall(
        r"currentmodule:: (\S+)\n.*?:toctree: made/api\n\n(.*?)```",
        (ROOT / "docs" / "api.md").read_text(),
        flags=re.DOTALL,
    ):
        listed |= {f"{module}.{name}" for name in names.split()}
    assert listed == {name for name, _ in _public()}


def test_pages_are_in_the_contents():
    toctrees = re.findall(
        r"```{toctree}\n(.*?)```", "".join(page.read_text() for page in PAGES), flags=re.DOTALL
    )
    listed = " ".join(toctrees).split()
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(listed)
    assert all(listed.count(page) == 1 for page in pages)


def test_gallery_says_what_is_learned_and_where_not_to_use_it():
    scripts = sorted((ROOT / "examples" / "gallery").glob("*.py"))
    assert len(scripts) >= 12
    for script in scripts:
        text = script.read_text()
        compile(text, script.name, "exec")
        assert "**You learn**" in text, script
        assert "**Where PTU is not the tool:**" in text, script
    pages = "".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"made/gallery/(plot_\w+)", pages))
    assert named <= {script.stem for script in scripts}


def _links():
    place = ROOT / "docs" / "links.py"
    spec = importlib.util.spec_from_file_location("links", place)
    module = sys.modules.setdefault("links", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def test_links_of_a_site_are_looked_at(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="here">a</h1><a href="b.html#there">b</a> <a href="#here">a</a> <a href="https://x">x</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1><img src="b.png">')
    (tmp_path / "b.png").write_text("")
    assert _links().problems(tmp_path) == (2, [])
    (tmp_path / "c.html").write_text(
        '<a href="b.html#elsewhere">b</a><a href="d.html">d</a><script src="https://x/y.js"></script>'
    )
    _, found = _links().problems(tmp_path)
    assert found == [
        "c.html leads to b.html#elsewhere, and the page has no such place",
        "c.html leads to d.html, which is not there",
        "c.html loads https://x/y.js",
    ]
    assert _links().main(tmp_path)


def test_readme_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)\b", (ROOT / "README.md").read_text()):
        assert f"\n{target}:" in makefile, target
