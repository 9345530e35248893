"""What `spikemark study` and `spikemark score` print with --json, as classes."""

from spikemark.records.answer_rows import CellContent, Content, FigureContent, TableContent
from spikemark.records.answer_schema import Shapes

from .claims import Outcome, Published


class OurAnswer(Content):
    """What we find."""

    ours: FigureContent | list[str] | str | None
    """a number, an order with the largest first, or words"""
    note: str
    tables: list[TableContent]


class ClaimContent(OurAnswer):
    """A claim of a paper, beside ours."""

    id: str
    place: list[str]
    """figures, tables, equations or sections that say it"""
    says: str
    published: Published
    contradicted_by: list[Outcome]
    rule: str | None
    """when the claim holds, in words"""
    verdict: str
    why: str


class FindingContent(OurAnswer):
    """A question beyond the paper."""

    id: str
    place: list[str]
    question: str
    why: str


class ScoreOfKind(Content):
    """Scores of one kind of test; `error` and `inside` are shares."""

    method: str
    kind: str
    error: float
    """median"""
    width: float
    """of the interval, a factor"""
    series: int
    points: int
    worst: float
    score: float
    inside: float


class PredictedPoint(Content):
    """A real-time factor, predicted and measured."""

    kind: str
    series: str
    anchor: str
    aspects: str
    """what differs between the series and its anchor"""
    nodes: int
    ranks: int
    threads: int
    low: float
    median: float
    high: float
    measured: float


class StudyContent(Content):
    """`study NAME`."""

    study: str
    title: str
    reference: str
    quick: bool
    conclusion: str
    provenance: str
    rests_on: dict[str, str]
    """digests of what the verdicts depend on"""
    verdicts: dict[str, int]
    claims: list[ClaimContent]
    findings: list[FindingContent]
    complaints: list[str]


class ScoreContent(Content):
    """`score`."""

    digest: str
    conditions: str
    by_kind: list[ScoreOfKind]
    by_series: list[dict[str, CellContent]]
    """scores of the model and of the baselines"""
    predictions: list[PredictedPoint]


SHAPES: Shapes = {"study": (StudyContent,), "score": (ScoreContent,)}
