"""Tables and numbers of docs/ from the study `interconnect`: DPSNN's neurons on two interconnects."""

from spikemark.documents.stored import Stored, matching, one, shown
from spikemark.quantities.words import number

from .cells import each, markdown, share


def interconnects(s: Stored) -> str:
    """Seconds per simulated second by ranks."""
    rows, published = s.rows("interconnect"), s.rows("table1")
    lines = [
        [
            number(ranks),
            shown(one(rows, "real_time_factor", machine="dpsnn-westmere-ib", ranks=ranks), number),
            shown(one(published, "published", ranks=ranks), number),
            shown(one(rows, "real_time_factor", machine="dpsnn-westmere-eth", ranks=ranks), number),
        ]
        for ranks in sorted(each(rows, "ranks"))
    ]
    lines = [[f"{int(float(line[0]))}", *line[1:]] for line in lines]
    return markdown(["ranks", "InfiniBand", "published", "Gigabit Ethernet"], lines)


def shares(s: Stored) -> str:
    """Shares of the time on InfiniBand, beside the published ones."""
    rows = s.rows("table1")
    heads = ["share of the time, InfiniBand"]
    for row in rows:
        heads += [f"{row['ranks']} ranks", "published"]
    lines = [
        [part, *(share(row[f"{by}{part}_percent"], 3) for row in rows for by in ("", "published_"))]
        for part in ("computation", "communication", "barrier")
    ]
    return markdown(heads, lines)


def fastest(s: Stored) -> str:
    """The number of ranks on which InfiniBand is fastest."""
    rows = list(matching(s.rows("interconnect"), machine="dpsnn-westmere-ib"))
    return f"{min(rows, key=lambda row: row['real_time_factor'])['ranks']}"


def fastest_published(s: Stored) -> str:
    """The fastest here of the published numbers of ranks."""
    return f"{min(s.rows('table1'), key=lambda row: row['real_time_factor'])['ranks']}"


def ahead(s: Stored) -> str:
    """How many times as fast as published the computation on 4 ranks is."""
    row = next(matching(s.rows("table1"), ranks=4))
    own, theirs = (row[a] * row[b] for a, b in (("real_time_factor", "computation_percent"),
                                               ("published", "published_computation_percent")))  # fmt: skip
    return number(theirs / own, 2)


#: What marks may name.
PARTS = {
    "interconnects": interconnects,
    "shares": shares,
    "fastest": fastest,
    "fastest-published": fastest_published,
    "ahead": ahead,
}
