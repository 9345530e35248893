"""Questions about published networks, made when first asked, and once for all tests."""

from functools import cache

from spikemark.prediction.question import Question, of_preset


@cache
def multi_area_model() -> Question:
    """The multi-area model at its published size, which takes a second to describe."""
    return of_preset("mam", full=True)
