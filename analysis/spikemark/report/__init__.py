"""Pages: what was measured, what the models expect, and what is missing."""

from .conclude import conclude

__all__ = ["answer_page", "conclude", "document", "facts", "plots"]
