"""The report as HTML: its lines, a table and pictures, complete in itself."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING, Any

from ptunfold.report.figures import picture

if TYPE_CHECKING:
    from ptunfold.report.findings import Report

_STYLE = (
    ".ptunfold-report{max-width:72em;font:14px/1.45 system-ui,sans-serif}"
    ".ptunfold-report table{border-collapse:collapse;margin:1em 0}"
    ".ptunfold-report th,.ptunfold-report td"
    "{text-align:left;vertical-align:top;padding:.25em 1em .25em 0;"
    "border-bottom:1px solid #ccc}"
    ".ptunfold-report td.number{text-align:right;font-variant-numeric:tabular-nums}"
    ".ptunfold-report img{max-width:100%;background:#fff}"
)


def fragment(report: Report) -> str:
    """Write the report as a part of a page, for notebooks."""
    said = "".join(
        f'<tr><th scope="row">{html.escape(subject)}</th><td>{html.escape(words)}</td></tr>'
        for subject, words in report.lines.items()
    )
    return (
        f'<style>{_STYLE}</style><div class="ptunfold-report"><table>{said}</table>'
        f"{_drawn(report)}{_numbers(report.as_dict())}</div>"
    )


def whole_page(report: Report, title: str) -> str:
    """Write the report as a page of its own, which loads and runs nothing."""
    seal = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{seal}'; "
        "base-uri 'none'; form-action 'none'"
    )
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{name}</title>\n</head>\n<body>\n<h1>{name}</h1>\n{fragment(report)}\n"
        "</body>\n</html>\n"
    )


def _drawn(report: Report) -> str:
    try:
        drawn = base64.b64encode(picture(report)).decode()
    except ImportError as error:
        return f"<p>{html.escape(str(error))}</p>"
    about = (
        "the embedding coloured by distortion and by curvature, distances in it against those "
        "along the data, and eigenvalues"
    )
    return f'<img alt="{about}" src="data:image/png;base64,{drawn}">'


def _numbers(said: dict[str, Any]) -> str:
    """Write all numbers into a table."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f'<td class="number">{html.escape(value)}</td></tr>'
        for name, value in _flat(said)
    )
    return f"<details><summary>all numbers</summary><table>{rows}</table></details>"


def _flat(said: dict[str, Any], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in said.items():
        name = before + key.replace("_", " ")
        if isinstance(value, dict):
            found += _flat(value, f"{name}, ")
        elif isinstance(value, list):
            if value and not any(isinstance(one, dict) for one in value):
                found.append((name, ", ".join(map(_shown, value))))
        else:
            found.append((name, _shown(value)))
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
