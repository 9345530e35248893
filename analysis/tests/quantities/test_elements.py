from spikemark.quantities.elements import KeyFigure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import percent


def test_a_tile_shows_the_number_and_leaves_its_interval_to_the_note():
    figure = KeyFigure("Waiting", Quantity(0.25, 0.2, 0.3), "measured", "95 % interval", percent)
    assert (figure.text, figure.remark, figure.absent) == ("25\u202f%", "95 % interval", False)
    assert KeyFigure("Runs", "8 of 8").text == "8 of 8"


def test_a_tile_without_a_number_says_why():
    figure = KeyFigure.lacking("Waiting", "one rank waits for nobody")
    assert (figure.text, figure.remark, figure.absent) == ("missing", "one rank waits for nobody", True)
