"""The version of Spikemark, which CMake and the wheel read from here."""

__version__ = "2.0.0"
