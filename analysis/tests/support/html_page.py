"""A report as a test reads it: parsed, nesting checked, with its words, ids and links."""

import json
import re
from html.parser import HTMLParser

from planned import write_experiment

from spikemark.records.frames import load_folder
from spikemark.report import sweep_page

VOID = {"meta", "br", "hr", "img", "link", "input"}
LOADING = {
    "src",
    "srcset",
    "data",
    "poster",
    "background",
}  # attributes that make a browser fetch something


class Page(HTMLParser):
    """Checks nesting while parsing, and keeps what the tests ask for."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.words, self.loads, self.hrefs, self.tags = [], [], [], [], [], []
        self.images, self.scripts = [], []
        self.feed(text)
        self.close()
        assert self.stack == []
        assert "`" not in self.text, "code is set as such"
        if text.lstrip().startswith("<!DOCTYPE"):
            dead = {to for _, to in self.hrefs if to.startswith("#") and to[1:] not in self.ids}
            assert not dead, f"links that lead nowhere: {dead}"

    @property
    def text(self) -> str:
        return re.sub(r"[ \n]+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.is_data = attrs.get("type") == "application/json"  # rows, which no browser executes
        self.tags.append("data" if self.is_data else tag)
        self.loads += [(tag, k, v) for k, v in attrs.items() if k in LOADING]
        if "href" in attrs:
            self.hrefs.append((tag, attrs["href"]))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if attrs.get("role") == "img":
            self.images.append(attrs.get("aria-label", ""))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, f"</{tag}> closes {self.stack[-3:]}"
        self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "script" and self.is_data:
            assert "<" not in data and all(json.loads(data)), "rows, and nothing that ends them"
        elif self.stack and self.stack[-1] == "script":
            self.scripts.append(data)
        if not {"style", "script", "metadata"} & set(self.stack):
            self.words.append(data)


def page(folder, runs, **plan) -> Page:
    return page_of(write_experiment(folder, runs, **plan))


def page_of(experiment) -> Page:
    """The report of a results folder, which is written to it as well."""
    out = experiment / "report.html"
    sweep_page.write(load_folder(experiment), out)
    return Page(out.read_text(encoding="utf-8"))
