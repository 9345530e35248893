"""The reasons that the checker gives, by number, and what it found in one answer."""

from __future__ import annotations

from dataclasses import dataclass, field

VALID, INVALID, INCOMPLETE = "VALID", "INVALID", "INCOMPLETE"
EXIT = {VALID: 0, INVALID: 1, INCOMPLETE: 2}
MOST_SAID = 8  # findings of one reason that are listed; further ones are counted
LONGEST = 400  # characters of a finding


@dataclass(frozen=True)
class Reason:
    """`verdict` is what an answer becomes by it; `check` says what must hold."""

    number: int
    verdict: str
    check: str


#: Name -> reason. The hundreds: files, form, rules, spikes, times, repetitions, energy, machine, figures.
REASONS = {
    "no bundle": Reason(101, INCOMPLETE, "The bundle is there, with its manifest."),
    "bundle changed": Reason(102, INVALID, "Every file of the bundle has the size and hash of its manifest."),
    "source changed": Reason(103, INVALID, "`source.tar.gz` has the hash that `tender.json` states."),
    "other bundle": Reason(104, INVALID, "The answer names the hash of this bundle's manifest."),
    "file missing": Reason(105, INCOMPLETE, "Every file of the answer's manifest is there."),
    "file extra": Reason(106, INVALID, "The answer holds no file that its manifest does not list."),
    "file changed": Reason(107, INVALID, "Every file of the answer has the size and hash of its manifest."),
    "no manifest": Reason(108, INCOMPLETE, "The answer has a manifest."),
    "link": Reason(109, INVALID, "The answer consists of folders and regular files, without links."),
    "signature": Reason(110, INVALID, "The signature of the manifest is of the given public key."),
    "not verified": Reason(111, INCOMPLETE, "A signature is there, and a program that can verify it."),
    "form": Reason(201, INVALID, "Every JSON file has its fields, with allowed types and values."),
    "part missing": Reason(
        202, INCOMPLETE, "Answer, commitment, environment and all files of every run are there."
    ),
    "ranks form": Reason(203, INVALID, "`ranks.csv` is a table with one line per rank."),
    "cycles form": Reason(204, INVALID, "`cycles.npy` has the shape of the record and holds times >= 0."),
    "run missing": Reason(301, INCOMPLETE, "Every run that the tender wants measured is answered."),
    "repetition missing": Reason(302, INCOMPLETE, "A run has all repetitions, numbered without gaps."),
    "too short": Reason(303, INCOMPLETE, "Every repetition lasts as long as the tender wants."),
    "network": Reason(304, INVALID, "The network is that of the tender, field by field."),
    "seed": Reason(305, INVALID, "The seed is that of the tender."),
    "model time": Reason(306, INVALID, "Resolution, cycle and simulated time are those of the tender."),
    "timers": Reason(307, INVALID, "What is recorded and injected is as in the tender."),
    "not allowed": Reason(308, INVALID, "Only what the category allows differs, and `set` discloses it."),
    "flags": Reason(309, INVALID, "The compiler's flags are those of the tender (category base)."),
    "version": Reason(
        310, INVALID, "One program was measured, the disclosed one, of the tender's version without changes."
    ),
    "not measured": Reason(311, INVALID, "Records are measured, neither simulated nor dry runs."),
    "layout": Reason(312, INVALID, "Ranks, threads and nodes are those of the answer, in all repetitions."),
    "warm-up": Reason(313, INVALID, "The warm-up is that of the tender, and there was time for it."),
    "checksum": Reason(401, INVALID, "The checksum is the expected one."),
    "one checksum": Reason(402, INVALID, "All repetitions of a network have one checksum."),
    "counts": Reason(403, INVALID, "Neurons, synapses, spikes and events are the expected ones."),
    "sums": Reason(404, INVALID, "Counts and checksums of the ranks add up to the totals."),
    "lanes": Reason(
        405, INVALID, "The lanes are those of the schedule; their windows and messages fit the run."
    ),
    "rates": Reason(406, INVALID, "Neurons, synapses and rates follow from the description."),
    "spikes": Reason(407, INVALID, "Recorded spikes give the checksum of the spikes."),
    "phase sum": Reason(501, INVALID, "The phases of all cycles add up to the wall-clock time of each rank."),
    "phases": Reason(502, INVALID, "The phases are those of a cycle; their summary is that of `cycles.npy`."),
    "factor": Reason(503, INVALID, "Real-time factor, cycles and time of the slowest rank fit together."),
    "clocks": Reason(504, INVALID, "The system clock saw the same duration as the timers."),
    "order of clocks": Reason(505, INVALID, "Launch, build, warm-up, run, end and answer follow in time."),
    "waiting": Reason(506, INVALID, "No rank leaves an exchange before the last one has come."),
    "together": Reason(507, INVALID, "Ranks that meet have spent the same time in the run."),
    "timer": Reason(
        508, INVALID, "The cost of the timer fits its number of readings; a real clock was read."
    ),
    "clock library": Reason(509, INVALID, "No library is loaded in front of the system's clock."),
    "no noise": Reason(510, INVALID, "Cycle times vary as measured times do."),
    "same files": Reason(601, INVALID, "No two repetitions share a file."),
    "copies": Reason(602, INVALID, "No cycle times are copies: shifted, reordered, scaled or disturbed."),
    "at once": Reason(603, INVALID, "Repetitions follow one another in time."),
    "energy": Reason(701, INVALID, "Energy is power times time, by the readings kept."),
    "readings": Reason(
        702, INVALID, "Readings of power go forward in time and cover the measured part closely."
    ),
    "power limits": Reason(703, INVALID, "Mean power lies between idle power and the nodes' limit."),
    "energy sums": Reason(
        704, INVALID, "Gross, net and idle energy, channels and nodes fit, in all repetitions."
    ),
    "no power": Reason(705, INCOMPLETE, "Power was measured where the tender requires it."),
    "frequency": Reason(801, INVALID, "Frequency limits and governor are the disclosed ones."),
    "machine": Reason(802, INVALID, "All repetitions ran on the same machine, the disclosed one."),
    "disclosure": Reason(803, INCOMPLETE, "Every node is disclosed; what is not known has a reason."),
    "repetition figure": Reason(
        901, INVALID, "The answer repeats the figures of the records, of all of them."
    ),
    "figure": Reason(902, INVALID, "A figure of merit follows from the repetitions by the tender's rule."),
    "committed": Reason(903, INVALID, "The commitment repeats the measured figures, each once."),
    "projection": Reason(904, INVALID, "A projection has a method and an interval, and stands there once."),
    "not projected": Reason(905, INCOMPLETE, "The real-time factor of every run is measured or projected."),
    "fault": Reason(999, INVALID, "Every check could be carried out."),
}


@dataclass
class Report:
    """What was found. `notes` do not change the verdict."""

    findings: list = field(default_factory=list)  # (name of the reason, where, text)
    notes: list = field(default_factory=list)
    about: dict = field(default_factory=dict)  # bidder, category, tender: as far as they are known

    def say(self, name: str, where: str, text: str) -> None:
        """Adds a finding; `name` is a key of REASONS, `where` a file or a field."""
        found = (name, plain_line(where), plain_line(text))
        if found not in self.findings:
            self.findings.append(found)

    def note(self, text: str) -> None:
        """Adds what a reader should know although it changes nothing."""
        if plain_line(text) not in self.notes:
            self.notes.append(plain_line(text))

    @property
    def verdict(self) -> str:
        """INVALID if any reason says so, else INCOMPLETE if any does, else VALID."""
        verdicts = {REASONS[name].verdict for name, _, _ in self.findings}
        return INVALID if INVALID in verdicts else INCOMPLETE if verdicts else VALID

    @property
    def numbers(self) -> list:
        """The numbers of all reasons given, increasing, each once."""
        return sorted({REASONS[name].number for name, _, _ in self.findings})

    def content(self) -> dict:
        """The report as JSON holds it."""
        reasons = [
            {"number": REASONS[name].number, "reason": name, "verdict": REASONS[name].verdict, "where": where,
             "text": text}
            for name, where, text in self._ordered()
        ]  # fmt: skip
        return {
            "kind": "tender_check",
            "format_version": 1,
            "verdict": self.verdict,
            **self.about,
            "reasons": reasons,
            "notes": self.notes,
        }

    def text(self) -> str:
        """The report for a terminal: the verdict first, then numbered reasons, then notes."""
        who = ", ".join(f"{name} {plain_line(str(value))}" for name, value in self.about.items())
        lines, said = [f"{self.verdict}" + (f": {who}" if who else "")], {}
        for name, where, text in self._ordered():
            said[name] = said.get(name, 0) + 1
            if said[name] <= MOST_SAID:
                lines.append(f"{REASONS[name].number} {where}: {text}")
        lines += [
            f"{REASONS[name].number} and {count - MOST_SAID} more of this reason"
            for name, count in said.items()
            if count > MOST_SAID
        ]
        return "\n".join(lines + [f"note: {line}" for line in self.notes])

    def _ordered(self) -> list:
        return sorted(self.findings, key=lambda found: REASONS[found[0]].number)


def plain_line(text: str) -> str:
    """A text as one line of printable characters that UTF-8 can hold, cut after LONGEST of them."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
