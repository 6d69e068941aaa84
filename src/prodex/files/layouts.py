"""The layouts of what prodex keeps on disk: each has one number, and what has another number, or none, is refused.

Only the layout of this version is read. What another version wrote may mean something else today, and what cannot be
read is not nothing: so it is named, whatever rests on it stops, and the person decides.
"""

from __future__ import annotations

from pathlib import Path

from prodex.errors import OtherLayout


def require_layout(path: object, found: int | None, own: int, advice: str = "") -> None:
    """Refuse what has another layout than the one that this version writes and reads.

    Parameters
    ----------
    path
        Of the file, or what it is called in messages.
    found
        The number that it says; None where it says none.
    own
        The number of this version.
    advice
        What to do after it was moved away, and what to know of it, as sentences.

    Raises
    ------
    OtherLayout
        When the numbers differ.

    Examples
    --------
    >>> require_layout("shop.json", 2, 2)
    >>> require_layout("shop.json", 1, 2, "Load again.")
    Traceback (most recent call last):
    ...
    prodex.errors.OtherLayout: shop.json was made by an earlier version of prodex (it has layout 1, and this version reads layout 2). Move it away. Load again.
    """  # noqa: E501 - a message is one line
    if found == own:
        return
    reads = f"and this version reads layout {own}"
    if found is None:
        what = f"has no layout number, {reads}: an earlier version of prodex or another program made it. Move it away."
    elif found < own:
        what = f"was made by an earlier version of prodex (it has layout {found}, {reads}). Move it away."
    else:
        made = f"was made by a newer version of prodex (it has layout {found}, {reads})"
        what = f"{made}. Update prodex, or move it away."
    raise OtherLayout(f"{path} {what} {advice}".rstrip(), path=path if isinstance(path, Path) else None)
