"""The one exception that means 'the input is wrong', as opposed to 'the program is wrong'."""


class BadInput(ValueError):
    """One line that names the field, its value and what is allowed. The command line exits with status 2."""
