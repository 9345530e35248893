"""How a session and a notebook show an object: what it is, and how to look further, a line each.

The `repr` of a dataclass is all of its content, which may be hundreds of lines.
"""

import html


class Summarised:
    """Gives a class a short `repr`, and the same for notebooks.

    A dataclass that extends it is declared with `repr=False`.
    """

    def _summary(self) -> str:
        """What the object is, in one line."""
        raise NotImplementedError

    def _further(self) -> str:
        """What to ask it for, in one line."""
        raise NotImplementedError

    def _rows(self) -> list[tuple[str, ...]]:
        """Rows of a table for notebooks, the first one with its heads; none by default."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>\n {self._further()}"

    def _repr_html_(self) -> str:
        """The same for a notebook, with a table where there is one."""
        lines = [f"<p>{html.escape(self._summary())}</p>"]
        rows = self._rows()
        if rows:
            lines.append("<table>")
            lines += [_row(cells) for cells in rows]
            lines.append("</table>")
        lines.append(f"<p><code>{html.escape(self._further())}</code></p>")
        return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    columns = [f"<td>{html.escape(cell)}</td>" for cell in cells]
    return f"<tr>{''.join(columns)}</tr>"
