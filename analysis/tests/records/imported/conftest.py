"""What the tests of imported cycle times share."""

import pytest

from spikemark.core.errors import BadInput


@pytest.fixture
def refused():
    """Calls a function that must refuse its arguments, and returns the one line that it says."""

    def call(function, *arguments, **options) -> str:
        with pytest.raises(BadInput) as error:
            function(*arguments, **options)
        assert "\n" not in str(error.value)
        return str(error.value)

    return call
