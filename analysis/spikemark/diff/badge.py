"""A badge for a page of a project: a small drawing that says whether something became slower."""

from html import escape

from .compare import FAIL, FASTER, NOT_JUDGED, PASS, SLOWER, VERDICTS

#: Colours by what the badge says; anything else is not known, or not told apart.
COLOURS = {
    FAIL: "#b3261e",
    VERDICTS[SLOWER]: "#b3261e",
    PASS: "#1b7f4b",
    VERDICTS[FASTER]: "#1b7f4b",
    NOT_JUDGED: "#6b7280",
}
OTHER_COLOUR = "#8a5a00"
WIDTH_OF_CHARACTER = 7  #: pixels
HEIGHT = 20
PADDING = 8


def badge(state: str, label: str = "speed") -> str:
    """The badge as SVG, which loads nothing.

    Args:
        state: what it says, such as "pass" or "slower".
        label: what it is about.

    Example:
        >>> "pass" in badge("pass"), badge("pass").startswith("<svg")
        (True, True)
    """
    left = WIDTH_OF_CHARACTER * len(label) + 2 * PADDING
    right = WIDTH_OF_CHARACTER * len(state) + 2 * PADDING
    colour = COLOURS.get(state, OTHER_COLOUR)
    words = escape(f"{label}: {state}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}"'
        f' role="img" aria-label="{words}"><title>{words}</title>'
        f'<rect width="{left}" height="{HEIGHT}" fill="#3b4149"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{colour}"/>'
        '<g fill="#ffffff" text-anchor="middle" font-family="sans-serif" font-size="12">'
        f'<text x="{left / 2:g}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(state)}</text></g></svg>\n'
    )
