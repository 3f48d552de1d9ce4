"""The table of bad inputs, bad_inputs.txt, and the page that is made of it.

`python -m tests.bad_inputs` writes docs/errors.md.
"""

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("bad_inputs.txt")
PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
_HEAD = """# What is said about bad input

Every call below ends in the error, or the warning, that stands beside it: one sentence of what was
found and what to do. The page is made of the table `tests/bad_inputs.txt`, which is also a test;
`python -m tests.bad_inputs` makes it anew. "..." stands for something longer.

In the calls, `X` are 40 points in 3 dimensions, `frame` the same in pandas with the columns x, y
and z, `with_entry(value)` the same with another value in one place, `apart` two clusters;
`model` is fitted to `X` and `named` to `frame`; `graph`, `frames` and `connection` are the stages
of `X`, `distances` the matrix of its distances, `own(...)` a sparse matrix of two edge lengths,
`nearest` and `lengths` lists of neighbours; `file` is a file that is there, and `folder` a folder.
"""


@dataclass(frozen=True)
class Bad:
    """One line of the table."""

    section: str
    call: str
    kind: str
    says: str

    @property
    def pattern(self):
        """What the message has to match from end to end."""
        return re.escape(self.says).replace(re.escape("..."), ".*") + "$"


def read_table():
    """Read all lines of the table, section by section."""
    section, call, found = "", "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line.startswith("    "):
            kind, says = line.strip().split(": ", 1)
            found.append(Bad(section, call, kind, says))
        elif line:
            call = line
    return found


def make_page():
    """Make the page of the docs, as text."""
    parts, section = [_HEAD], None
    for bad in read_table():
        if bad.section != section:
            section = bad.section
            parts.append(f"\n## {section}\n\n| call | what is said |\n| --- | --- |\n")
        says = bad.says.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        parts.append(f"| `{bad.call}` | {bad.kind}: {says} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(make_page(), encoding="utf-8")
