"""What the commands of `spikemark tender` print with --json, as classes."""

from typing import Literal

from spikemark.records.answer_rows import Content, Foreign, RangeContent
from spikemark.records.answer_schema import Shapes

from .schema import NestRun, TenderAnswer


class FindingOfCheck(Content):
    """Something that is wrong with an answer."""

    check: str
    text: str
    """what is wrong, and where"""


class OfferContent(Content):
    """An offer beside the others."""

    offer: str
    verdict: str
    nodes: int | None
    basis: str | None
    """measured or projected"""
    committed: float | None
    """the promised real-time factor"""
    reached: float | None
    """share of the draws in which the target is reached"""
    cheapest: float | None
    """share of the draws in which it costs least"""
    left_out: str | None
    """why it is not compared"""
    nest: list[NestRun]
    real_time_factor: RangeContent | None
    power_w: RangeContent | None
    cost: RangeContent | None
    """EUR over the life"""


class LayoutOfRun(Content):
    """Ranks and threads of an accepted run; what is left out is the launcher's choice."""

    ranks: int
    threads: int
    ranks_per_node: int | None = None
    distribution: str | None = None
    binding: str | None = None


class AcceptedFigure(RangeContent):
    """Median, least and largest of the repetitions."""

    name: str


class SpreadContent(Content):
    """The spread of repeated runs, a share."""

    value: float
    interval: tuple[float, float] | None
    kind: Literal["given", "measured"]
    degrees: float | None
    """of freedom; null for a spread that was given"""


class RiskContent(Content):
    """Both risks of an acceptance with so many runs."""

    runs: int
    tolerance: float
    good_fails: float
    bad_passes: float


class RemedyContent(Content):
    """The fewest runs for which a tolerance keeps both risks small."""

    runs: int
    tolerance: tuple[float, float]
    """least and largest"""


class NewBundle(Content):
    """`tender new`."""

    bundle: str
    secret: str
    """the file that the buyer keeps"""
    sha256: str
    runs: list[str]


class MeasuredBundle(Content):
    """`tender run`."""

    bundle: str
    work: str
    category: Literal["base", "optimised"]


class WrittenAnswer(Content):
    """`tender answer`."""

    answer: str
    """the folder that was written"""
    content: TenderAnswer


class CheckedAnswer(Content):
    """`tender check`."""

    verdict: str
    findings: list[FindingOfCheck]
    remarks: list[str]


class Offers(Content):
    """`tender offers`."""

    sentence: str
    trial: bool
    target: float | None
    offers: list[OfferContent]
    lines: list[str]


class PreparedContent(Content):
    """`tender accept --prepare`."""

    run: str
    checksum: str
    accepted: None


class Acceptance(Content):
    """`tender accept`: acceptance.json."""

    kind: Literal["tender_acceptance"]
    format_version: int
    bundle_sha256: str
    run: str
    accepted: bool
    reasons: list[str]
    remarks: list[str]
    """what makes the times doubtful"""
    checksum: str
    layout: LayoutOfRun
    set: Foreign | None
    """settings of the run description"""
    figure: AcceptedFigure
    promised: float | None
    tolerance: float
    repetitions: int


class Statistics(Content):
    """`tender statistics`."""

    spread: SpreadContent
    shortfall: float
    risk: float
    risks: list[RiskContent]
    remedy: RemedyContent | None


SHAPES: Shapes = {
    "tender new": (NewBundle,),
    "tender run": (MeasuredBundle,),
    "tender answer": (WrittenAnswer,),
    "tender check": (CheckedAnswer,),
    "tender offers": (Offers,),
    "tender accept": (PreparedContent, Acceptance),
    "tender statistics": (Statistics,),
}
