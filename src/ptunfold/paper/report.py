"""Run sections, and write them as one self-contained page."""

from __future__ import annotations

import base64
import html
import io
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ptunfold.datasets import swiss_roll
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import run_ptu
from ptunfold.paper.sections import SECTIONS, Extent

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
table { border-collapse: collapse; margin: 0.8rem 0; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; }
img { max-width: 100%; }
.met { color: #1a7f37; } .missed { color: #b42318; font-weight: bold; } .open { color: #777; }
h2 { margin-top: 2.5rem; }
"""


def write_report(
    output: Path,
    names: Iterable[str] = (),
    *,
    extent: Extent | None = None,
    say: Callable[[str], None] = print,
) -> list[Section]:
    """Run sections of the paper, all by default, and write pictures and a page into a folder.

    These are ``paper.html``, ``paper.md`` and one picture for each section. ``say`` is told about
    each section when it is done.
    """
    extent = extent or Extent()
    output.mkdir(parents=True, exist_ok=True)
    run_ptu(
        swiss_roll(300).points
    )  # compiles everything, so that the seconds are those of the work
    sections = []
    for name in names or SECTIONS:
        start = time.perf_counter()
        section = SECTIONS[name](extent)
        section.seconds = time.perf_counter() - start
        sections.append(section)
        if section.figure is not None:
            (output / f"{name}.png").write_bytes(_png(section))
        for claim in section.claims:
            say(f"{name:14} {_word(claim):8} {claim.text}: {claim.here} (paper: {claim.paper})")
    (output / "paper.html").write_text(_page(sections, extent), encoding="utf-8")
    (output / "paper.md").write_text(_markdown(sections, extent), encoding="utf-8")
    return sections


def all_met(sections: list[Section]) -> bool:
    """Tell whether every claim that was tried holds."""
    return all(claim.is_met is not False for section in sections for claim in section.claims)


def _png(section: Section) -> bytes:
    buffer = io.BytesIO()
    section.figure.savefig(buffer, dpi=110, format="png")
    return buffer.getvalue()


def _word(claim: Claim) -> str:
    return {True: "met", False: "NOT MET", None: "not run"}[claim.is_met]


def _heading(extent: Extent) -> str:
    size = "at reduced size" if extent.is_quick else "at full size"
    return f"Parallel Transport Unfolding: the paper's claims, run {size}"


def _page(sections: list[Section], extent: Extent) -> str:
    parts = [f"<h1>{html.escape(_heading(extent))}</h1>"]
    for section in sections:
        parts.append(f"<h2 id='{section.name}'>{html.escape(section.title)}</h2>")
        parts.append(f"<p>{html.escape(section.data)} {section.seconds:.1f} seconds in all.</p>")
        parts.append(_claims_table(section.claims))
        if section.figure is not None:
            code = base64.b64encode(_png(section)).decode()
            alt = html.escape(section.title)
            parts.append(f"<p><img alt='{alt}' src='data:image/png;base64,{code}'></p>")
        parts.append(_table(section.header, section.rows))
    parts.append("<h2>All claims</h2>")
    parts.append(_claims_table([c for section in sections for c in section.claims]))
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
        f"<title>{html.escape(_heading(extent))}</title><style>{_STYLE}</style></head><body>"
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _claims_table(claims: list[Claim]) -> str:
    kinds = {True: "met", False: "missed", None: "open"}
    rows = "".join(
        f"<tr><td>{html.escape(claim.text)}</td><td>{html.escape(claim.paper)}</td>"
        f"<td>{html.escape(claim.here)}</td>"
        f"<td class='{kinds[claim.is_met]}'>{_word(claim)}</td></tr>"
        for claim in claims
    )
    return f"<table><tr><th>claim<th>paper<th>here<th></tr>{rows}</table>"


def _table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _markdown(sections: list[Section], extent: Extent) -> str:
    lines = [
        f"# {_heading(extent)}",
        "",
        "| section | claim | paper | here | |",
        "|" + " --- |" * 5,
    ]
    for section in sections:
        for claim in section.claims:
            cells = [f"[{section.name}](#{section.name})", claim.text, claim.paper, claim.here]
            lines.append("| " + " | ".join([*cells, _word(claim)]) + " |")
    for section in sections:
        lines += ["", f"## {section.name}", "", f"**{section.title}.** {section.data}", ""]
        if section.figure is not None:
            lines += [f"![{section.title}]({section.name}.png)", ""]
        if section.rows:
            lines.append("| " + " | ".join(section.header) + " |")
            lines.append("|" + " --- |" * len(section.header))
            lines += ["| " + " | ".join(row) + " |" for row in section.rows]
    return "\n".join(lines) + "\n"
