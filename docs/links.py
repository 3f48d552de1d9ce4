"""Look whether the links of a built site lead somewhere: ``python docs/links.py build/docs``.

Sphinx checks what it resolves itself. This looks at what came out: every link and picture of every
page, and every place in a page that a link names. Nothing may be loaded from elsewhere.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The links of a page, what it loads, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note what a tag leads to."""
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(found.get("href", ""))
        if found.get(LOADED.get(tag, "")):
            self.loads.append(found[LOADED[tag]])


def problems(folder):
    """List links that lead nowhere, and what is loaded from elsewhere."""
    # What the theme keeps beside its scripts are templates, not pages.
    files = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    found.append(f"{name} loads {target}")
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there /= "index.html"
            place = unquote(parts.fragment)
            if not there.exists():
                found.append(f"{name} leads to {target}, which is not there")
            elif place and there in pages and place not in pages[there].places:
                found.append(f"{name} leads to {target}, and the page has no such place")
    return len(pages), found


def main(folder):
    """Say what is wrong; the answer is whether anything is."""
    n_pages, found = problems(Path(folder))
    print("\n".join([*found, f"{n_pages} pages, {len(found)} links that lead nowhere"]))
    return bool(found) or not n_pages


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
