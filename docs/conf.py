"""How the site is built: ``make docs``. The Markdown pages beside this file are its source."""

import os
import shutil
import warnings
from pathlib import Path

# Pictures are drawn without a screen, and alike on every machine.
os.environ["MPLBACKEND"] = "Agg"

import matplotlib.pyplot as plt

import ptunfold

HERE = Path(__file__).parent
ROOT = HERE.parent
MADE = HERE / "made"  # what is not written by hand; not under version control

project = "ptunfold"
author = "the authors of ptunfold"
copyright = "the authors of ptunfold"
version = release = ptunfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["made/gallery/**/*.ipynb", "paper/*.html", "_templates"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "ptunfold"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "ptunfold"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_show_sourcelink = False

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_RESULTS = {  # in the order of the contents; what is not named follows
    "accuracy": "Errors against the truth",
    "against_isomap": "Beside Isomap",
    "field": "Beside the field",
    "real": "Real data and surfaces",
    "closed": "Closed data",
    "bars": "Error bars",
    "metrics": "Metrics",
    "landmarks": "Landmarks",
    "large": "Many points",
    "gpu_full": "A GPU, all distances",
    "gpu_landmarks": "A GPU, landmarks",
    "cluster_2_cores": "A cluster on two cores",
    "disk": "A store on disk",
    "stream": "Files of any length",
    "memory": "Memory",
    "stages": "Stages",
    "shape": "The shape of sheets",
    "explorer": "The explorer",
}


def _bring_results():
    """Copy what benchmarks have written, which has no headings of its own, with a title."""
    there = MADE / "benchmarks"
    there.mkdir(parents=True, exist_ok=True)
    pages = {page.stem: page for page in (ROOT / "benchmarks" / "results").glob("*.md")}
    for name, page in pages.items():
        text = page.read_text(encoding="utf-8")
        if not text.startswith("# "):
            title = _RESULTS.get(name, name.replace("_", " ").capitalize())
            text = f"# {title}\n\n{text}"
        # Deeper headings may come first where a table stands alone; Sphinx wants them in order.
        _write(there / page.name, text)
    for picture in (ROOT / "benchmarks" / "results").glob("*.png"):
        shutil.copyfile(picture, there / picture.name)
    order = sorted(pages, key=lambda name: list(_RESULTS).index(name) if name in _RESULTS else 99)
    listed = "\n".join(order)
    _write(
        there / "index.md",
        "# All runs\n\nEach page is what a benchmark wrote, as it wrote it.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
    )


def _bring_notices():
    """Copy the pages of the root, whose links start there."""
    for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        text = text.replace("](docs/", "](../").replace("](CHANGELOG.md", "](changelog.md")
        _write(MADE / f"{name.lower()}.md", text)


def _write(path, text):
    """Leave files alone that would not change: what has not changed is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


_bring_results()
_bring_notices()
# Compiled before the gallery begins, so that times on its pages are those of any later run.
ptunfold.PTU().fit(ptunfold.datasets.s_with_hole(1500).points).distances([0])


def _reset(gallery_conf, fname):
    """Begin each example of the gallery with the same style and the same warnings."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.dpi": 100,
            "savefig.dpi": 100,
            "figure.facecolor": "white",
            "font.size": 10,
        }
    )
    warnings.filterwarnings("default", category=UserWarning)
    # What is said, not where in whose folders.
    warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "made/gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": (_reset,),
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),  # what is printed is shown, not what matplotlib returns
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "doc_module": ("ptunfold",),
    "backreferences_dir": "made/backreferences",
    "nested_sections": False,
    "copyfile_regex": r"never",
}


def _lead_inside(app, docname, source):
    """Let links that leave the folder lead to the copies of what they lead to."""
    text = source[0]
    up = "../" if docname.startswith("paper/") else ""
    text = text.replace("](../benchmarks/results)", f"]({up}made/benchmarks/index.md)")
    text = text.replace("](../benchmarks/results/", f"]({up}made/benchmarks/")
    text = text.replace("[explorer/](../explorer)", "`explorer/`")
    source[0] = text


def setup(app):
    """Connect what is above."""
    app.connect("source-read", _lead_inside)
