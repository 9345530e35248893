"""Pages in a browser, as `make test-browser` runs them: wide, on a phone, dark and on paper.

Chromium and its driver are those of Debian (chromium, chromium-driver), Selenium drives them. Pages
are judged by their structure, sizes and colours, not by pixels.
"""

import base64
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import swept
from checkout import ROOT

from spikemark.quantities.elements import Section
from spikemark.records.frames import configurations, load_folder
from spikemark.report import document, plots, sweep_page
from spikemark.report.run_pages import RunColumn, RunPages

sys.path.insert(0, str(ROOT / "docs"))
import gallery

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="no chromium, no chromedriver")

GRID = [
    {"schedule": ["conventional", "placement_only"]},
    {"schedule": "structure_aware", "delay_ratio": [2, 5, 10]},
]
SETTINGS = {"wide": (1200, "light"), "phone": (400, "light"), "dark": (1200, "dark")}
CONTRAST = 4.5  # of text that is not large (WCAG 2.2, 1.4.3)
#: Of a page when it has been opened, whatever the number of its runs: a browser lays out so many
#: in a fraction of a second.
MAX_ELEMENTS = 10_000
ELEMENTS = "return document.querySelectorAll('*').length"
MANY = 5000
MAX_BYTES = 1_500_000  #: of a page without the data of its runs
#: Parts of drawings that reach beyond the box of their figure.
STICKING_OUT = """
return [...document.querySelectorAll('figure svg text')].filter((text) => {
  const box = text.closest('.drawing').getBoundingClientRect();
  const own = text.getBoundingClientRect();
  return own.right > box.right + 2 || own.left < box.left - 2;
}).map((text) => text.textContent);
"""
#: Runs axe-core, and returns the rules that are broken, with the elements that break them.
AXE = """
const done = arguments[arguments.length - 1];
const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
axe.run(document, { runOnly }).then(({ violations }) => done(violations.map(
  ({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 120)) }))));
"""
OPEN_ALL = "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
#: Contrast of all visible text over what lies behind it; returns those below the limit.
LOW_CONTRAST = """
const limit = arguments[0];
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (colour) => colour.slice(0, 3).map((x) => x / 255)
  .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
  .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgb(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const low = [];
for (const element of document.querySelectorAll("body *")) {
  const has = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!has || !element.getClientRects().length || element.closest("script, .status")) continue;
  const style = getComputedStyle(element);
  const inDrawing = element.namespaceURI.endsWith("svg");
  const [a, b] = [light(rgb(inDrawing ? style.fill : style.color)), light(behind(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < limit) low.push(`${element.tagName} ${ratio.toFixed(2)}: ${element.textContent}`);
}
return low;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """The page of a small sweep, in its results folder."""
    folder = tmp_path_factory.mktemp("swept")
    preset = {"name": "mam-benchmark", "options": swept.OPTIONS | {"simulate_ms": 1000}}
    results, runs = swept.planned(folder / "results", grid=GRID, seeds=[1, 2, 3], preset=preset)
    for number, run in enumerate(runs):
        swept.write(results, run, mean_s=1e-3 * (1 + 0.1 * (number % 5)), cycles=1000)
    report = results.path / "report.html"
    sweep_page.write(load_folder(results.path), report)
    return report


@pytest.fixture(scope="module")
def gallery_pages(tmp_path_factory) -> list[Path]:
    """The pages of docs/gallery.md, beside their examples."""
    folder = tmp_path_factory.mktemp("gallery")
    gallery.write(folder)
    return [folder / page.page for page in gallery.shown(gallery.TEXT.read_text())]


@pytest.fixture(scope="module")
def site_pages() -> list[Path]:
    """The pages of the documentation, without those that show the source of modules."""
    subprocess.run(["make", "docs"], cwd=ROOT, check=True, capture_output=True)
    site = ROOT / "build" / "docs"
    return sorted(page for page in site.rglob("*.html") if "_modules" not in page.parts)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium without a window; downloads go to `browser.downloads`."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    downloads = tmp_path_factory.mktemp("downloads")
    for option in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{option}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.downloads = downloads
    driver.set_script_timeout(300)  # axe looks at every element, on a machine that may be busy
    yield driver
    driver.quit()


def opened(browser, page: Path, setting: str = "wide"):
    """The page in the browser."""
    width, scheme = SETTINGS[setting]
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get("about:blank")
    browser.get(page.as_uri())
    return browser


def errors(browser) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser")]


def first_column(browser, table: str) -> list[str]:
    """Texts of the first cells of the rows that are shown."""
    return browser.execute_script(
        "return [...document.querySelector(arguments[0]).tBodies[0].rows]"
        ".filter((row) => !row.hidden).map((row) => row.cells[0].textContent.trim())",
        table,
    )


def waited(path: Path) -> Path:
    """The path, when the browser has saved it."""
    for _ in range(100):
        if path.is_file() and path.stat().st_size:
            return path
        time.sleep(0.1)
    raise AssertionError(f"not saved: {path.name}; there is {list(path.parent.iterdir())}")


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_first_screen_answers(browser, page, setting):
    opened(browser, page, setting)
    width, _ = SETTINGS[setting]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    bottom = browser.execute_script(
        "return document.querySelector('.facts').getBoundingClientRect().bottom"
    )
    assert bottom < 900, "sentence and facts are seen without scrolling"
    text = browser.find_element("css selector", ".first-screen").text
    for fact in ("network", "program", "machine", "date", "made by"):
        assert fact in text
    assert browser.execute_script(LOW_CONTRAST, CONTRAST) == []
    assert errors(browser) == []


def test_nothing_sticks_out_of_its_box(browser, page):
    opened(browser, page, "phone")
    browser.execute_script(OPEN_ALL)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, svg')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


def test_the_page_prints(browser, page):
    opened(browser, page)
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 10_000
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = browser.execute_script(
        "return [...document.querySelectorAll('.tools, .sort')].filter((e) => e.offsetParent)"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert shown == [], "nothing to press on paper"


def test_folded_tables_are_printed(browser, page):
    """Those of sections, but not the numbers of figures; the screen folds them again after that."""
    opened(browser, page)
    open_of = "return [...document.querySelectorAll('{} > details')].map((at) => at.open)"
    sections, figures = open_of.format("section"), open_of.format("figure")
    assert browser.execute_script(sections) and not any(browser.execute_script(sections))
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert all(browser.execute_script(sections)) and not any(browser.execute_script(figures))
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not any(browser.execute_script(sections))


def test_a_table_is_sorted_by_keyboard_and_filtered(browser, page):
    opened(browser, page)
    table = ".first-screen > .scroll table"
    before = first_column(browser, table)
    sort = browser.find_elements("css selector", f"{table} .sort")[1]
    sort.send_keys(Keys.ENTER)
    rising = browser.execute_script(
        f"return [...document.querySelector('{table}').tBodies[0].rows]"
        ".map((row) => Number(row.cells[1].dataset.v))"
    )
    assert rising == sorted(rising) and set(first_column(browser, table)) == set(before)
    sort.send_keys(Keys.ENTER)
    head = browser.find_elements("css selector", f"{table} th[aria-sort]")
    assert [each.get_attribute("aria-sort") for each in head] == ["descending"]
    runs = "#checks table"
    browser.execute_script(OPEN_ALL)
    field = browser.find_element("css selector", "#checks input")
    field.send_keys("structure d=5")
    shown = first_column(browser, runs)
    assert shown and all("D=5" in name for name in shown), shown
    field.clear()


def test_values_are_read_by_keyboard_and_words_explained(browser, page):
    opened(browser, page)
    drawing = browser.find_element("css selector", ".first-screen figure svg")
    browser.execute_script("arguments[0].focus()", drawing)
    drawing.send_keys(Keys.ARROW_RIGHT)
    assert re.search(r": .*\d", browser.find_element("id", "tip").text)
    drawing.send_keys(Keys.ESCAPE)
    assert not browser.find_element("id", "tip").is_displayed()
    word = browser.find_element("css selector", ".first-screen > .scroll a.term")
    browser.execute_script("arguments[0].focus()", word)
    assert len(browser.find_element("id", "tip").text.split()) > 3


def test_figures_and_numbers_are_saved(browser, page):
    opened(browser, page)
    buttons = browser.find_elements("css selector", ".first-screen figcaption button")
    title = browser.find_element("css selector", ".first-screen figure h3").text
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    starts = {"svg": b"<svg", "png": b"\x89PNG", "csv": b"schedule"}
    for button, (end, start) in zip(buttons, starts.items(), strict=True):
        button.click()
        content = waited(browser.downloads / f"{name}.{end}").read_bytes()
        assert content.startswith(start), end
        assert b"var(--" not in content
    assert errors(browser) == []


def test_saved_figures_are_light_however_the_screen_is(browser, page):
    """On a dark screen, paper and letters of a saved figure are those of the light scheme."""
    opened(browser, page, "dark")
    title = browser.find_element("css selector", "#speed figure h3").text
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    browser.find_elements("css selector", "#speed figure figcaption button")[0].click()
    content = waited(browser.downloads / f"{name}.svg").read_text()
    style = (ROOT / "analysis/spikemark/report/style.css").read_text()
    paper, dark_paper = re.findall(r"--paper: (#\w+);", style)
    assert f'<rect width="100%" height="100%" fill="{paper}"/>' in content
    assert dark_paper not in content and "var(--" not in content


def test_saved_numbers_hold_plain_spaces(browser, page):
    """No spaces that other programs would not compare equal, such as in D = 5."""
    opened(browser, page)
    browser.execute_script(OPEN_ALL)
    browser.find_elements("css selector", "#speed figure figcaption button")[2].click()
    title = browser.find_element("css selector", "#speed figure h3").text
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    content = waited(browser.downloads / f"{name}.csv").read_text()
    assert "D = 5" in content and "(s / s)" in content
    assert not re.search("[\u00a0\u202f]", content)


def test_a_link_to_a_run_opens_its_row(browser, page):
    opened(browser, page)
    row = browser.find_element("css selector", "tr[id^=run-]").get_attribute("id")
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#{row}")
    assert browser.find_element("id", row).is_displayed()


def test_each_run_has_a_page_of_its_own(browser, page):
    """By its link in the table of runs, with values, place and neighbours; back leads back."""
    opened(browser, page)
    browser.execute_script(OPEN_ALL)
    links = browser.find_elements("css selector", "#checks tbody th a")
    rows = browser.find_elements("css selector", "#checks tr[id^=run-]")
    assert len(links) == len(rows) > 2
    first_id = rows[0].get_attribute("id").removeprefix("run-")
    links[0].send_keys(Keys.ENTER)
    view = browser.find_element("id", "run-page")
    assert browser.current_url.endswith(f"#page-{first_id}") and first_id in view.text
    assert not browser.find_element("css selector", ".first-screen").is_displayed()
    folder = view.find_element("css selector", "td a").get_attribute("href")
    assert folder == (page.parent / "runs" / first_id).as_uri()
    value = view.find_element("css selector", "td[data-v]").get_attribute("data-v")
    factors = load_folder(page.parent).runs.set_index("id")["real_time_factor"]
    assert float(value) == pytest.approx(factors[first_id], rel=1e-5)
    browser.back()
    assert browser.find_element("css selector", ".first-screen").is_displayed()
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#page-{first_id}")
    assert first_id in browser.find_element("id", "run-page").text
    assert browser.execute_script(LOW_CONTRAST, CONTRAST) == []
    assert errors(browser) == []


def test_axes_are_chosen_by_keyboard(browser, page):
    """What is drawn follows the choice: names, numbers, at most four lines in a panel."""
    opened(browser, page)
    upwards, along, compare = browser.find_elements("css selector", "#explore select")
    compare.send_keys("seed")
    along.send_keys("configuration")
    upwards.send_keys("waiting")
    title = browser.find_element("css selector", "#chosen h3").text
    assert title == "waiting (s / s) over configuration, by seed"
    browser.execute_script(OPEN_ALL)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#chosen tbody tr')].map((row) => "
        "[row.cells[0].textContent, row.cells[1].textContent, Number(row.cells[2].dataset.v)])"
    )
    runs = load_folder(page.parent).runs
    waiting = runs.groupby([configurations(runs), "seed"])["part.waiting"].mean()
    drawn = {(name, int(seed.removeprefix("seed "))): value for seed, name, value in rows}
    assert drawn == pytest.approx(waiting.to_dict(), rel=1e-5)
    compare.send_keys("configuration")
    along.send_keys("seed")
    bold = browser.find_elements("css selector", "#chosen text[font-weight=bold]")
    assert len(bold) == configurations(runs).nunique() > 4
    assert browser.execute_script(LOW_CONTRAST, CONTRAST) == []
    assert errors(browser) == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_pages_of_the_gallery_are_clean(browser, gallery_pages, setting):
    """Nothing sticks out, all words can be read, nothing complains, with all that folds open."""
    width, _ = SETTINGS[setting]
    for page in gallery_pages:
        opened(browser, page, setting)
        browser.execute_script(OPEN_ALL)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, page
        assert browser.execute_script(LOW_CONTRAST, CONTRAST) == [], page
        assert browser.execute_script(STICKING_OUT) == [], page
        assert errors(browser) == [], page


#: Heads whose arrow does not stand beside their last word, and names with dashes on two lines.
TORN = """
const rows = (e) => new Set([...e.getClientRects()].map(({ top }) => Math.round(top))).size;
const torn = [...document.querySelectorAll('.whole')].filter((e) => rows(e) > 1);
const apart = [...document.querySelectorAll('thead .sort')].filter((arrow) => {
  const words = [...arrow.previousElementSibling.getClientRects()];
  if (!words.length || !arrow.offsetParent) return false;
  const own = arrow.getBoundingClientRect();
  const last = words.at(-1);
  return own.top > last.bottom || own.bottom < last.top || own.left < last.left;
});
return [...torn, ...apart.map((arrow) => arrow.parentElement)].map((e) => e.textContent);
"""


PAPER = 687  # pixels: A4 without its margins, as style.css has them
#: Elements that reach beyond a width.
BEYOND = """
const wide = [...document.querySelectorAll('body *')].filter((e) =>
  !e.closest('svg, .status') && e.getBoundingClientRect().right > arguments[0] + 1);
return wide.map((e) => e.outerHTML.slice(0, 100));
"""
#: Headings that a page may begin after, or that say what the one before them has said.
ALONE = """
const heads = [...document.querySelectorAll('h2, h3')].filter((e) => e.getClientRects().length);
const apart = heads.filter((e) => getComputedStyle(e).breakAfter !== 'avoid');
const words = (e) => e.textContent.trim().toLowerCase();
const twice = heads.filter((e) => e.previousElementSibling?.matches('h2, h3')
  && words(e) === words(e.previousElementSibling));
return [...apart, ...twice].map((e) => e.outerHTML.slice(0, 100));
"""


#: Code of a page whose lines are longer than its box, with how many pixels of them are cut.
CUT_CODE = """
return [...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => [e.scrollWidth - e.clientWidth, e.textContent.slice(0, 60)]);
"""


@pytest.mark.parametrize("setting", ["wide", "phone"])
def test_no_line_of_code_is_cut_in_the_documentation(browser, site_pages, setting):
    assert len(site_pages) > 40
    for page in site_pages:
        opened(browser, page, setting)
        assert browser.execute_script(CUT_CODE) == [], page


@pytest.mark.parametrize("setting", SETTINGS)
def test_names_stay_whole_and_arrows_beside_their_heads(browser, gallery_pages, setting):
    for page in gallery_pages:
        opened(browser, page, setting)
        browser.execute_script(OPEN_ALL)
        assert browser.execute_script(TORN) == [], page


def test_pages_of_the_gallery_print_whole(browser, gallery_pages):
    """On paper as wide as A4 within its margins, with all that folds open."""
    size = {"width": PAPER, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    for page in gallery_pages:
        opened(browser, page)
        browser.execute_script(OPEN_ALL)
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        cut = browser.execute_script(BEYOND, PAPER)
        torn = browser.execute_script(TORN)
        sticking_out = browser.execute_script(STICKING_OUT)
        alone = browser.execute_script(ALONE)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert (cut, torn, sticking_out, alone) == ([], [], [], []), page


def test_figures_of_the_gallery_tell_their_values_by_keyboard(browser, gallery_pages):
    for page in gallery_pages:
        opened(browser, page)
        drawing = browser.find_element("css selector", ".first-screen figure svg")
        browser.execute_script("arguments[0].focus()", drawing)
        drawing.send_keys(Keys.ARROW_RIGHT)
        assert re.search(r"\d", browser.find_element("id", "tip").text), page


def test_pages_of_the_gallery_keep_the_rules_of_axe(browser, gallery_pages):
    """The rules of axe-core for WCAG 2.2 AA; the package brings them along."""
    axe = pytest.importorskip("axe_core_python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text()
    broken = []
    for page in gallery_pages:
        opened(browser, page)
        browser.execute_script(OPEN_ALL)
        browser.execute_script(script)
        result = browser.execute_async_script(AXE)
        broken += [(page.name, rule["id"], rule["nodes"]) for rule in result]
    assert broken == []


def many_run_pages(times: list[float]) -> RunPages:
    """What a page knows of runs that took these times, each with as many columns as usual."""
    columns = [RunColumn("configuration", "configuration", "set"), RunColumn("seed", "seed", "set")]
    columns += [RunColumn(f"x{n}", f"measured {n}", "measured") for n in range(12)]
    rows = []
    for number, value in enumerate(times):
        measured = [value + n / 7 for n in range(12)]
        configuration = f"schedule {number % 6}"
        id = f"{number:012x}"
        rows.append([id, f"runs/{id}", 0, configuration, number % 50, *measured])
    return RunPages("results/many", columns, rows, {}, {})


def test_many_runs_open_quickly(browser, tmp_path):
    """A table of MANY runs with planted values: all are sorted, filtered, saved and linked to."""
    times = [
        float(1 + 7919 * number % MANY) for number in range(MANY)
    ]  # a permutation of 1 to MANY
    rows = [
        {
            "label": f"run {n}",
            "id": f"{n:012x}",
            "folder": f"runs/{n:012x}",
            "real_time_factor": rtf,
        }
        for n, rtf in enumerate(times)
    ]
    table = plots.tabulated(pd.DataFrame(rows), "Runs")
    page = tmp_path / "large.html"
    section = Section("checks", "Checks", tables=[table])
    runs_data = many_run_pages(times)
    page.write_text(document.html(document.Page("x", "x", "x", sections=[section], runs=runs_data)))
    assert page.stat().st_size - len(runs_data.data()) < MAX_BYTES
    assert len(runs_data.data()) < 2 * MAX_BYTES
    opened(browser, page)
    assert browser.execute_script(ELEMENTS) < MAX_ELEMENTS
    runs = "#checks table"
    assert len(first_column(browser, runs)) == document.MAX_ROWS < MANY
    browser.find_element("css selector", "#checks summary").click()
    sort = browser.find_elements("css selector", f"{runs} .sort")[-1]
    sort.click()
    in_order = first_column(browser, runs)
    assert in_order == [f"run {times.index(float(rank))}" for rank in range(1, 1 + MANY)]
    browser.find_element("css selector", "#checks input").send_keys(f"run {MANY - 1}")
    assert first_column(browser, runs) == [f"run {MANY - 1}"]
    link = browser.find_element("css selector", f"#run-{MANY - 1:012x} td a")
    assert link.get_attribute("href") == f"{tmp_path.as_uri()}/runs/{MANY - 1:012x}"
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#run-{MANY - 2:012x}")
    assert browser.find_element("id", f"run-{MANY - 2:012x}").is_displayed()
    assert browser.find_elements("css selector", "#chosen svg circle")
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#page-{MANY - 3:012x}")
    assert f"{MANY - 3:012x}" in browser.find_element("css selector", "#run-page h2").text
    assert errors(browser) == []
