"""The command line in the process of the tests."""

from command_line import refusal, spikemark, undrawn  # noqa: F401
