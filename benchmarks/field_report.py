"""What the field's benchmark found, as tables and pictures."""

import statistics

from field_methods import METHODS

MARKERS = "osD^v"
INTRO = {
    "distances": (
        "How true are distances?",
        "Mean relative error of all pairs in per cent, after the one factor that helps most: not"
        " all methods have a\nunit. In brackets the error as given, where there is one; then"
        " Spearman's correlation of ranks. 1000 points in\nR³. The truth across"
        " the hole of the S is the length in the unrolled sheet, where\nshortest paths in a graph"
        " must go round. Methods that give places alone are not asked.",
    ),
    "embedding": (
        "How true are embeddings?",
        "What is left, in per cent, after the best linear map to the known sheet, which forgives"
        " any scale; in\nbrackets what is left after the best rigid motion, for methods that keep"
        " lengths. 1000 points in R³.",
    ),
    "noise": (
        "What does noise do?",
        "The swiss roll without a hole, 1000 points: Gaussian noise along the normal, in parts of"
        " the roll's longest\nside, or a tenth of all points thrown off (they are left out of the"
        " score). What is left, in per cent, after\nthe best linear map.",
    ),
    "real": (
        "What about real data?",
        "What ten nearest neighbours in two dimensions tell of labels (accuracy) or of slant and"
        " slimness (R²), in\n5-fold cross-validation; then, for values, Spearman's correlation of"
        " distances. More is better.",
    ),
    "time": (
        "How long, and how much memory?",
        "The swiss roll with a hole, float32, each fit in a fresh process of its own, after"
        " one of the same size that\ncompiles and is not counted: least wall seconds (CPU seconds)"
        " of the seeds, and the peak of resident memory above\nwhat the process had before, in MB.",
    ),
}


def median(runs, key):
    values = [run[key] for run in runs if key in run]
    return statistics.median(values) if values else None


def short(value):
    """Write two digits that count, and no powers of ten."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def least(runs, key):
    return min(run[key] for run in runs)


def runs_of(found, of):
    return [
        one for job, one in found.items() if job.rsplit("|", 1)[0] == of and "failed" not in one
    ]


def failure_of(found, of):
    told = [
        one["failed"] for job, one in found.items() if job.startswith(f"{of}|") and "failed" in one
    ]
    return told[0] if told else None


def sets_of(found):
    """List sets in the order in which they were asked for."""
    return list(dict.fromkeys(job.rsplit("|", 1)[0] for one in found.values() for job in one))


def seeds_of(question, found):
    """Say how many seeds there were, who had fewer, and who was not asked."""
    n_runs = {
        name: min((len(runs_of(jobs, of)) for of in sets_of({name: jobs})), default=0)
        for name, jobs in found.items()
    }
    most = max(n_runs.values())
    said = "One seed." if most == 1 else f"{most} seeds."
    fewer = [f"{name} ({n})" for name, n in n_runs.items() if 0 < n < most]
    if fewer:
        said += f" Fewer: {', '.join(fewer)}."
    asked = [n for n, m in METHODS.items() if question != "distances" or m.gives_distances]
    left_out = [name for name in asked if name not in found]
    if left_out:
        said += f" Not asked in this run: {', '.join(left_out)}."
    return said


def cell(question, name, runs):
    if question == "distances":
        given = median(runs, "error")
        shown = short(median(runs, "scaled")) + ("" if given is None else f" ({short(given)})")
        return f"{shown}, {median(runs, 'rank'):.3f}"
    if question == "embedding":
        rigid = f" ({short(median(runs, 'rigid'))})" if METHODS[name].keeps_lengths else ""
        return short(median(runs, "linear")) + rigid
    if question == "noise":
        return short(median(runs, "linear"))
    if question == "real":
        rank = median(runs, "rank")
        return f"{median(runs, 'knn'):.3f}" + ("" if rank is None else f", {rank:.3f}")
    seconds, cpu, room = (least(runs, key) for key in ("seconds", "cpu", "megabytes"))
    return f"{seconds:.2f} s ({cpu:.2f}), {room:.0f} MB"


def table(question, found):
    sets = sets_of(found)
    yield "| method | " + " | ".join(sets) + " |"
    yield "|" + " --- |" * (1 + len(sets))
    for name in METHODS:
        if name not in found:
            continue
        cells = []
        for of in sets:
            runs, failure = runs_of(found[name], of), failure_of(found[name], of)
            if runs:
                cells.append(cell(question, name, runs))
            elif failure and failure.startswith("more than"):
                cells.append(failure)
            else:
                cells.append("fails" if failure else "")
        if any(cells) and not is_missing(found[name]):
            yield f"| {name} | " + " | ".join(cells) + " |"


def is_missing(found):
    return any(one.get("failed", "").startswith("not installed") for one in found.values())


def failures(kept):
    """Yield a line for each method and reason."""
    told = {}
    for question, found in kept.items():
        for name, jobs in found.items():
            for job, one in jobs.items():
                reason = one.get("failed")
                if reason and not reason.startswith("more than"):
                    places = told.setdefault((name, reason), [])
                    places.append(f"{question}, {job.rsplit('|', 1)[0]}")
    for (name, reason), places in told.items():
        where = "; ".join(dict.fromkeys(places))
        yield f"- {name}: {reason}" + ("" if reason.startswith("not installed") else f" ({where})")


def draw(question, found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name in METHODS if name in found and not is_missing(found[name])]
    keys = {
        "distances": {"scaled": "error of distances after scaling, %"},
        "real": {"knn": "score of ten neighbours"},
        "time": {"seconds": "seconds", "megabytes": "MB above the start"},
    }.get(question, {"linear": "error after the best linear map, %"})
    figure, axes = plt.subplots(
        1, len(keys), figsize=(7, 0.6 + 0.3 * len(names)), sharey=True, squeeze=False
    )
    for axis, (key, label) in zip(axes[0], keys.items(), strict=True):
        for marker, of in zip(MARKERS, sets_of(found), strict=False):
            rows = [(runs_of(found[name], of), row) for row, name in enumerate(names)]
            rows = [(median(runs, key), row) for runs, row in rows if runs]
            axis.plot(*zip(*rows, strict=True), marker, label=of, alpha=0.8, markersize=6)
        if question != "real":
            axis.set_xscale("log")
        axis.set_xlabel(label)
        axis.grid(axis="both", alpha=0.3)
    axes[0, 0].set_yticks(range(len(names)), names)
    axes[0, 0].invert_yaxis()
    axes[0, -1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=100, bbox_inches="tight")
    plt.close(figure)


def write_report(kept, here, limits, folder):
    """Write field.md, and a picture for each question, into a folder."""
    packages = ", ".join(f"{name} {number}" for name, number in here["packages"].items())
    lines = [
        "# PTU beside the field",
        "",
        f"`make field` on {here['machine']}; their load was {here['load']:.1f} in the end, which is"
        " what to hold against the seconds.",
        f"Medians over seeds. {limits}",
        f"Versions: {packages}.",
        "",
        "| method | settings |",
        "| --- | --- |",
        *(f"| {name} | {method.settings} |" for name, method in METHODS.items()),
    ]
    for question, (title, words) in INTRO.items():
        if question in kept:
            draw(question, kept[question], folder / f"field_{question}.png")
            words += f"\n{seeds_of(question, kept[question])}"
            lines += ["", f"## {title}", "", words, "", *table(question, kept[question])]
            lines += ["", f"![{title}](field_{question}.png)"]
    told = list(failures(kept))
    lines += ["", "## What failed, and why", "", *(told or ["Nothing."])]
    (folder / "field.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
