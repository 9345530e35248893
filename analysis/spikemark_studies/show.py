"""A study for its readers: one screen, a page, Markdown for docs/results, JSON."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from spikemark.core import places
from spikemark.core.commands import command
from spikemark.launch import machine_name
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, integer, listed
from spikemark.report import document, facts, plots

from . import staleness
from .claims import (
    BY_CONSTRUCTION,
    CONSISTENT,
    CONTRADICTED,
    COUNTED,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
    Answered,
    Claim,
    Judged,
    StudyAnswer,
)
from .study import Study

MAX_ROWS_OF_SCREEN = 12
NO_ANSWER = "–"
FAILING_EVEN_SO = "of these, missed even so"
#: Verdicts in the order of a screen.
URGENCY = (CONTRADICTED, REPRODUCED, CONSISTENT, BY_CONSTRUCTION, UNDECIDED, NOT_TESTABLE)
COLUMNS = [
    Column("place", "where"),
    Column("says", "the paper says"),
    Column("published", "published"),
    Column("ours", "ours"),
    Column("subject", "which is"),
    Column("rule", "holds if ours is"),
    Column("contradicted_by", "contradicted by"),
    Column("verdict", "verdict"),
]
#: Of answers that neither a table nor a figure shows.
NOTE_COLUMNS = [Column("asked", "asked"), Column("answer", "answer")]
#: Of a screen, which is narrower.
SCREEN_COLUMNS = [
    column for column in COLUMNS if column.name not in ("published", "subject", "contradicted_by")
]


def _count_verdicts(study: Study) -> Counter[str]:
    return Counter(judged.verdict for judged in study.claims)


def _sentence(study: Study) -> str:
    """How many claims there are of each verdict that counts, and how many were not counted."""
    if not study.claims:
        return f"No claims of a paper, {counted(len(study.findings), 'finding')} of ours."
    counts = _count_verdicts(study)
    decided = sum(counts[verdict] for verdict in COUNTED)
    parts = [f"{counts[verdict]} {verdict}" for verdict in COUNTED]
    pieces = _pieces_of_evidence(study)
    if pieces < counts[REPRODUCED]:
        parts[0] += f" ({counted(pieces, 'piece')} of evidence, since some share theirs)"
    of_model = sum(judged.is_of_our_model for judged in study.claims)
    if counts[CONTRADICTED]:
        of_paper = counts[CONTRADICTED] - of_model
        parts[-1] += (
            f" ({of_paper} of the paper's own claims, {of_model} of what they measured, where our"
            " model fails)"
        )
    others = [
        f"{counts[verdict]} {verdict}" for verdict in (BY_CONSTRUCTION, UNDECIDED, NOT_TESTABLE)
    ]
    missing = sum(judged.misses for judged in study.claims)
    if missing:
        others[0] += f" (of which {missing} missed even so)"
    return f"{counted(decided, 'claim')}: {', '.join(parts)}. Not counted: {', '.join(others)}."


def _pieces_of_evidence(study: Study) -> int:
    """How many reproduced claims there are, those with a common cause counted once.

    Causes that a claim has in common with another make one piece of both.
    """
    reproduced = {judged.claim.id for judged in study.claims if judged.verdict == REPRODUCED}
    pieces = [{id} for id in reproduced]
    for ids in study.paper.shared.values():
        together = [piece for piece in pieces if piece & set(ids)]
        if together:
            pieces = [piece for piece in pieces if piece not in together]
            pieces.append(set().union(*together))
    return len(pieces)


def _conclusion(study: Study) -> str:
    """The conclusion of the paper's file with our numbers.

    Where a verdict that it rests on has come out otherwise, it says which, and no more than that.
    """
    conclusion = study.paper.conclusion
    claims = {judged.claim.id: judged for judged in study.claims}
    changed = []
    for id, expected in conclusion.rests_on.items():
        judged = claims[id]
        if judged.verdict != expected:
            quoted = f'"{judged.claim.says}"'
            changed.append(f"{quoted} is {judged.verdict} (the full study: {expected})")
    if changed:
        return f"No conclusion: {listed(changed)}."
    return _filled(conclusion.text, study)


def _filled(text: str, study: Study) -> str:
    """A text of the paper's file, with our answers in place of `{id}`."""
    answers = {}
    for judged in study.claims:
        answers[judged.claim.id] = _short_answer(judged.answer)
    for found in study.findings:
        answers[found.finding.id] = _short_answer(found.answer)
    return text.format_map(answers)


def _short_answer(answer: StudyAnswer | None) -> str:
    """Our answer without its kind, for a sentence."""
    if answer is None:
        return NO_ANSWER
    value = answer.value
    if not isinstance(value, Quantity) or not value:
        return answer.text or NO_ANSWER
    shown = Column("ours", "").text(value)
    is_one_number = value.interval in (None, (value.number, value.number))
    if is_one_number and value.number == round(value.number):  # such as ranks
        shown = integer(value.number)
    return f"{shown} {value.unit}".rstrip()


def _provenance(study: Study) -> str:
    """Day, commit and machine of the runs, and those of the models and rules that answer."""
    frames = [frames.runs for frames in study.frames if not frames.runs.empty]
    kinds: set[str] = set()
    days: set[str] = set()
    commits: set[str] = set()
    machines = {f"host {machine_name()}"}
    for frame in frames:
        kinds.update(frame["kind"])
        days.update(started[:10] for started in frame["started"].dropna())
        commits.update(commit[:10] for commit in frame["commit"].dropna())
        machines.update(str(machine) for machine in frame["machine"])
    has_changes = any(frame["dirty"].fillna(False).any() for frame in frames)
    size = "Quick study" if study.quick else "Full study"
    origin = listed(sorted(kinds) or ["computed"])
    if days:
        origin += f" on {max(days)}"
    of_commit = f", commit {listed(sorted(commits))}" if commits else ""
    if has_changes:  # then no commit has what was run
        of_commit = ", a checkout with changes"
    runs = counted(sum(len(frame) for frame in frames), "run")
    today = datetime.now(UTC).date().isoformat()
    answered = places.commit()
    at_commit = f" at commit {answered}" if answered else ""
    return (
        f"{size}; {origin}{of_commit}, {listed(sorted(machines))}, {runs}."
        f" Models and rules: {today}{at_commit}."
    )


def _table(study: Study, claims: list[Judged], columns: list[Column]) -> Table:
    """Claims beside each other; every verdict but `reproduced` with its reason."""
    return Table(columns, [_cells(study, judged) for judged in claims], name="claims")


def screen(
    study: Study, details: bool = False, **where: object
) -> tuple[list[str], Table, list[str]]:
    """Sentences, the table, and commands that lead on.

    Args:
        study: what is shown.
        details: whether all claims are; otherwise those that matter most.
        where: the options of the command that say where results are.

    Example:
        >>> from spikemark_studies.study import Study, load_paper
        >>> paper = load_paper("routing")
        >>> findings = [Answered(finding, why="not run") for finding in paper.findings]
        >>> study = Study("routing", paper, True, [], findings, [], [])
        >>> sentences, claims, commands = screen(study)
        >>> sentences[0]
        'Beyond the papers, when routing in levels pays: No claims of a paper, 4 findings of ours.'
    """
    claims = study.claims
    if not details:
        claims = sorted(claims, key=_urgency)[:MAX_ROWS_OF_SCREEN]
    again = {"quick": study.quick, **where}
    lines = []
    if len(claims) < len(study.claims):
        all_claims = command("study", study.name, details=True, **again)
        lines.append(f"All {len(study.claims)} claims: {all_claims}")
    page = command("study", study.name, html=f"{study.name}.html", **again)
    lines.append(f"With figures: {page}")
    if study.quick:
        lines.append(f"At full size, up to an hour: {command('study', study.name, **where)}")
    sentences = [f"{study.paper.title}: {_sentence(study)}", _conclusion(study), _provenance(study)]
    return sentences, _table(study, claims, SCREEN_COLUMNS), lines


def page(study: Study, made_by: str = "") -> str:
    """One HTML document that loads nothing; `made_by`: the command that makes it.

    Example:
        >>> from spikemark_studies.study import Study, load_paper
        >>> paper = load_paper("routing")
        >>> findings = [Answered(finding, why="not run") for finding in paper.findings]
        >>> study = Study("routing", paper, True, [], findings, [], [])
        >>> page(study)[:15]
        '<!DOCTYPE html>'
    """
    figures = _figures(study)
    picture = figures[0] if figures else None
    every_claim = _table(study, study.claims, COLUMNS)
    sections = [Section("claims", "Every claim", tables=[every_claim], unfolded=True)]
    in_words: list[dict[str, Cell]] = []
    for number, (title, words, answer) in enumerate(_answers(study)):
        text = [part for part in (words, answer.note) if part]
        if answer.figures or answer.tables:
            sections.append(_section(f"answer-{number}", title, text, answer, picture))
        elif text:
            in_words.append({"asked": title, "answer": " ".join(text)})
    if in_words:
        notes = Table(NOTE_COLUMNS, in_words, name="notes")
        sections.append(Section("notes", "Answers and notes in words", tables=[notes]))
    return document.html(
        document.Page(
            what=f"study {study.name}",
            title=study.paper.title,
            sentence=_conclusion(study),
            facts=facts.facts(machine=_provenance(study), command=made_by),
            picture=picture,
            table=_counts(study),
            notes=[
                _sentence(study),
                study.paper.reference,
                *(_filled(text, study) for text in study.paper.about),
                *_fits(study),
                *_shared(study),
                *_unchecked(study),
            ],
            sections=sections,
        )
    )


def _answers(study: Study) -> list[tuple[str, str, StudyAnswer]]:
    """Answers with what they answer, claims first.

    In between is the answer in words, which is empty for claims: their table has it.
    """
    answers = []
    for judged in study.claims:
        if judged.answer is not None:
            answers.append((_title(judged.claim.place, judged.claim.says), "", judged.answer))
    for found in study.findings:
        if found.answer is not None:
            title = _title(found.finding.place, found.finding.question)
            answers.append((title, f"{found.answer.text}.", found.answer))
    return answers


def _title(place: list[str], words: str) -> str:
    return f"{', '.join(place)}: {words}"


def _figures(study: Study) -> list[Figure]:
    """All figures of a study, each once."""
    figures: dict[str, Figure] = {}
    for _, _, answer in _answers(study):
        for figure in answer.figures:
            figures[figure.id] = figure
    return list(figures.values())


def _section(
    name: str, title: str, text: list[str], answer: StudyAnswer, picture: Figure | None
) -> Section:
    """An answer in words and what shows it, but the picture that stands above all sections."""
    reasons = []
    for shown in answer.tables:
        reasons += shown.reasons()
    figures = [figure for figure in answer.figures if figure is not picture]
    return Section(name, title, text, [], figures, answer.tables, reasons)


def _fits(study: Study) -> list[str]:
    """What was fitted to numbers of the paper, in a sentence each."""
    sentences = []
    for fit in study.paper.fitted:
        sentences.append(f"Fitted, and never counted: {fit.value}, to {fit.to}.")
    return sentences


def _shared(study: Study) -> list[str]:
    """Claims that rest on the same cause, in a sentence for each cause."""
    claims = {judged.claim.id: judged for judged in study.claims}
    sentences = []
    for cause, ids in study.paper.shared.items():
        of_cause = [claims[id] for id in ids if id in claims]
        reproduced = sum(judged.verdict == REPRODUCED for judged in of_cause)
        titles = [_title(judged.claim.place, judged.claim.says) for judged in of_cause]
        quoted = " ".join(f"({number}) {title}" for number, title in enumerate(titles, 1))
        sentences.append(
            f"{counted(len(of_cause), 'claim')}, {reproduced} of them reproduced, rest on the same:"
            f" {cause}. {quoted}"
        )
    return sentences


def _unchecked(study: Study) -> list[str]:
    """What of the paper has no claim, and why."""
    return [f"No claim of {place}: {reason}." for place, reason in study.paper.unchecked.items()]


def pictures(study: Study) -> dict[str, str]:
    """The drawings of the page in Markdown, as SVG by the name of their file.

    Example:
        >>> from spikemark_studies.study import Study, load_paper
        >>> paper = load_paper("routing")
        >>> findings = [Answered(finding, why="not run") for finding in paper.findings]
        >>> study = Study("routing", paper, True, [], findings, [], [])
        >>> pictures(study)  # of answers, and nothing was run
        {}
    """
    return {f"{figure.id}.svg": plots.standalone(figure) for figure in _figures(study)}


def markdown(study: Study) -> str:
    """The page docs/results/NAME.md; `pictures` lie beside it."""
    generator = command("study", study.name, quick=study.quick, markdown="FILE")
    reference = f"{study.paper.reference}. {_provenance(study)}"
    every_claim = _escaped(_table(study, study.claims, COLUMNS))
    parts = [
        f"# {study.paper.title}",
        _conclusion(study),
        _sentence(study),
        f"*{reference} Generated by `{generator}`; edit nothing here.*",
        *(_filled(text, study) for text in study.paper.about),
        *_fits(study),
        *_shared(study),
        every_claim.markdown() if study.claims else "",
        *_unchecked(study),
    ]
    for title, words, answer in _answers(study):
        if _has_a_section(answer):
            parts += [f"## {title}", words]
            parts += _markdown_parts(answer)
    for found in study.findings:
        if not _has_a_section(found.answer):
            parts.append(_found_in_words(found))
    parts.append(staleness.comment(study.name))
    return "\n\n".join(part for part in parts if part) + "\n"


def _has_a_section(answer: StudyAnswer | None) -> bool:
    """Whether an answer needs more than a line."""
    return answer is not None and bool(answer.tables or answer.note or answer.figures)


def _found_in_words(found: Answered) -> str:
    """A finding that fits into a line."""
    answer = found.answer.text if found.answer is not None else found.why
    return f"{_title(found.finding.place, found.finding.question)} {answer}."


def _markdown_parts(answer: StudyAnswer) -> list[str]:
    """Note, figures and tables of an answer."""
    parts = [answer.note] if answer.note else []
    for figure in answer.figures:
        alt = figure.alt.replace("[", "(").replace("]", ")")
        parts += [f"![{alt}]({figure.id}.svg)", f"*{figure.title}. {figure.caption}*"]
    for shown in answer.tables:
        if shown.title:
            parts.append(f"**{shown.title}**")
        parts += [shown.markdown(), *shown.notes, *shown.reasons()]
    return parts


def content(study: Study) -> dict[str, Any]:
    """The content for JSON."""
    counts = _count_verdicts(study)
    return {
        "study": study.name,
        "title": study.paper.title,
        "reference": study.paper.reference,
        "quick": study.quick,
        "conclusion": _conclusion(study),
        "provenance": _provenance(study),
        "rests_on": staleness.digests(study.name),
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "claims": [_claim_content(study, judged) for judged in study.claims],
        "findings": [_finding_content(found) for found in study.findings],
        "complaints": study.complaints,
    }


def _counts(study: Study) -> Table:
    """Where claims of each verdict are."""
    columns = [
        Column("verdict", "verdict"),
        Column("claims", "claims", "counted"),
        Column("where", "where"),
    ]
    rows: list[dict[str, Cell]] = []
    for verdict in VERDICTS:
        judged_so = [judged for judged in study.claims if judged.verdict == verdict]
        rows.append(_row_of_count(verdict, judged_so))
        if verdict == BY_CONSTRUCTION:
            missing = [judged for judged in judged_so if judged.misses]
            rows.append(_row_of_count(FAILING_EVEN_SO, missing))
    return Table(columns, rows)


def _row_of_count(verdict: str, claims: list[Judged]) -> dict[str, Cell]:
    """How many claims there are, and where."""
    places_of_claims: list[str] = []
    for judged in claims:
        places_of_claims += judged.claim.place
    where = ", ".join(dict.fromkeys(places_of_claims))
    return {"verdict": verdict, "claims": len(claims), "where": where}


def _urgency(judged: Judged) -> int:
    return URGENCY.index(judged.verdict)


def _cells(study: Study, judged: Judged) -> dict[str, Cell]:
    claim = judged.claim
    ours = judged.answer.text if judged.answer else ""
    why = _filled(judged.why, study)
    return {
        "place": ", ".join(claim.place),
        "says": claim.says,
        "published": claim.published.text,
        "ours": ours or NO_ANSWER,
        "subject": judged.subject if ours else NO_ANSWER,
        "rule": _rule_in_words(claim),
        "contradicted_by": _opposites(claim),
        "verdict": f"{judged.verdict}: {why}" if why else judged.verdict,
    }


def _rule_in_words(claim: Claim) -> str:
    """When a claim holds, and what of the paper says so where it has no number."""
    if claim.rule is None:
        return NO_ANSWER
    return f"{claim.rule.words} ({claim.limit.says})" if claim.limit else claim.rule.words


def _opposites(claim: Claim) -> str:
    """What would contradict a claim, in one cell."""
    parts = []
    for outcome in claim.contradicted_by:
        ours = outcome.ours
        if isinstance(ours, list):
            parts.append(f"{' > '.join(ours)}: {outcome.means}")
        elif ours is None:
            parts.append(outcome.means)
        else:
            parts.append(f"{ours:g}: {outcome.means}")
    return "; ".join(parts)


def _claim_content(study: Study, judged: Judged) -> dict[str, Any]:
    claim = judged.claim
    return {
        "id": claim.id,
        "place": claim.place,
        "says": claim.says,
        "published": claim.published.model_dump(),
        "contradicted_by": [outcome.model_dump() for outcome in claim.contradicted_by],
        "rule": claim.rule.words if claim.rule else None,
        "verdict": judged.verdict,
        "why": _filled(judged.why, study),
        **_answer_content(judged.answer),
    }


def _finding_content(found: Answered) -> dict[str, Any]:
    return {
        "id": found.finding.id,
        "place": found.finding.place,
        "question": found.finding.question,
        "why": found.why,
        **_answer_content(found.answer),
    }


def _answer_content(answer: StudyAnswer | None) -> dict[str, Any]:
    value = answer.value if answer else None
    return {
        "ours": value.content() if isinstance(value, Quantity) else value,
        "note": answer.note if answer else "",
        "tables": [shown.content() for shown in answer.tables] if answer else [],
    }


def _escaped(shown: Table) -> Table:
    """The table with words that do not end a cell of Markdown."""
    rows: list[dict[str, Cell]] = []
    for row in shown.rows:
        rows.append({name: str(cell).replace("|", "\\|") for name, cell in row.items()})
    return Table(shown.columns, rows, shown.title, shown.name, shown.notes)
