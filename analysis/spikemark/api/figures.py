"""Figures as files."""

from os import PathLike
from pathlib import Path
from textwrap import fill

from matplotlib import rc_context
from matplotlib.axes import Axes

from spikemark.core.arguments import public
from spikemark.core.errors import BadInput

#: Formats of files, and under which name their metadata hold a caption.
CAPTION_FIELDS = {".pdf": "Subject", ".svg": "Description", ".png": "Description"}
#: The name of the time of writing, which is left out: the same figure is the same file.
TIME_FIELDS = {".pdf": "CreationDate", ".svg": "Date"}
RESOLUTION = 200  #: dots per inch in PNG
CAPTION_WIDTH = 90  #: characters of a line below a figure
CAPTION_GAP = 0.02  #: above it, as a share of the height of the figure


@public
def save_figure(axes: Axes, file: str | PathLike[str], caption: str = "") -> Path:
    """Write a figure as PDF, SVG or PNG, with a caption below it and in the file's metadata.

    Args:
        axes: as `plot()` returns them; the whole figure is written.
        file: its ending says which format; it is written anew.
        caption: a sentence or more, such as the `sentence` of an answer.

    Returns:
        Path: of the file.

    Raises:
        BadInput: for another ending, and a file that cannot be written.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> import spikemark
        >>> answer = spikemark.waiting("tests/golden/analysis/records/conventional-4")
        >>> with TemporaryDirectory() as folder:
        ...     save_figure(answer.plot(), f"{folder}/waiting.pdf", answer.sentence).name
        'waiting.pdf'
    """
    path = Path(file)
    ending = path.suffix.lower()
    if ending not in CAPTION_FIELDS:
        expected = f"a name that ends in {', '.join(CAPTION_FIELDS)}"
        raise BadInput(field="file", value=str(file), expected=expected)
    figure = axes.get_figure(root=True)
    assert figure is not None
    metadata: dict[str, str | None] = {"Title": axes.get_title() or path.stem}
    if ending in TIME_FIELDS:
        metadata[TIME_FIELDS[ending]] = None
    below = None
    if caption:
        metadata[CAPTION_FIELDS[ending]] = caption
        figure.draw_without_rendering()  # only then does it know how far tick labels reach
        lowest = figure.get_tightbbox().ymin / figure.get_figheight()
        height = min(lowest, 0.0) - CAPTION_GAP
        text = fill(caption, CAPTION_WIDTH)
        below = figure.text(0.0, height, text, va="top", fontsize="small")
        below.set_in_layout(True)
    try:
        with rc_context({"svg.hashsalt": path.stem}):  # else its ids are drawn at random
            figure.savefig(path, bbox_inches="tight", dpi=RESOLUTION, metadata=metadata)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(field="file", file=path, reason=reason, code="file") from None
    finally:
        if below is not None:
            below.remove()
    return path
