"""The command line in the process of the tests."""

from command_line import refusal, spikemark  # noqa: F401
