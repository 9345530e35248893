"""Made-up answers to a tender with their sheets, and a checker that says of each what stands in it."""

import json
from dataclasses import dataclass, field

#: A check.py that says what stands in the file `verdict` of the answer.
CHECKER = """
import json, pathlib, sys
words = (pathlib.Path(sys.argv[1]) / "verdict").read_text().split()
reasons = [{"number": 500 + i, "where": "record.json", "text": text} for i, text in enumerate(words[1:])]
print(json.dumps({"verdict": words[0], "reasons": reasons}))
sys.exit({"VALID": 0, "INVALID": 1, "INCOMPLETE": 2}.get(words[0], 7))
"""
MODEL, MEASURED = "dry_run+profile", ""


@dataclass(frozen=True)
class Sheet:
    """What a made-up bidder says of the target: (value, low, high); `method`: MEASURED or of a projection."""

    bidder: str
    price: float | None = 1e6
    factor: tuple = (0.8, 0.7, 0.9)
    joules: tuple | None = (1e-7, 0.9e-7, 1.1e-7)
    method: str = MODEL
    committed: float | None = None
    verdict: str = "VALID"
    nodes: int = 16
    currency: str = "EUR"
    quick: bool = False
    bundle: str = "b" * 64
    sheet: bool = True
    power: dict = field(default_factory=dict)

    def write(self, folder):
        folder.mkdir(parents=True)
        answer = {"kind": "tender_answer", "format_version": 1, "bidder": self.bidder, "category": "base"}
        run = {"name": "target", "repetitions": [{}] * 5, "figure": {}}
        answer |= {"bundle_sha256": self.bundle, "quick": self.quick, "runs": [run]}
        (folder / "answer.json").write_text(json.dumps(answer))
        (folder / "verdict").write_text(self.verdict)
        if self.sheet:
            (folder / "commitment.json").write_text(json.dumps(self.content()))
        return folder

    def content(self):
        evidence = [("real_time_factor", self.factor), ("joules_per_synaptic_event", self.joules)]
        entries = [
            {"run": "target", "figure": name, "value": v and v[0], "low": v and v[1], "high": v and v[2]}
            | ({"reason": "no meter"} if v is None else {})
            | ({"method": self.method, "assumes": ["profile x", "16 ranks"]} if self.method else {})
            for name, v in evidence
        ]
        made = {"kind": "tender_commitment", "format_version": 1}
        made |= {"bidder": self.bidder, "machine": "a machine"}
        made |= {"nodes": self.nodes, "measured": [], "projected": [], "power": self.power}
        made["projected" if self.method else "measured"] = entries
        if self.price is not None:
            made["price"] = {"currency": self.currency, "total": self.price}
        value = self.committed or self.factor[0]
        made["committed"] = [{"run": "target", "figure": "real_time_factor", "value": value}]
        return made
