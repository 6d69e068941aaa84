"""In which language each supplier is written to: the one in which most of its texts are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import LANGUAGES
from prodex.quality.audit import Audit

#: Of as many texts in several languages: a supplier's own comes before English, which many write beside it.
_OWN_FIRST = tuple(sorted(LANGUAGES, key=lambda language: language == "en"))


def languages_of_suppliers(audit: Audit) -> dict[str, str]:
    """Return the language of each supplier, by the code of the owner: that of most of its texts in the catalogue.

    Only languages in which worklists are written are counted. Owners without such texts are left out, and get a
    worklist in whatever language is the usual one.

    Parameters
    ----------
    audit
        The audit; its catalogue has the texts.

    Examples
    --------
    >>> import prodex
    >>> def name(text, language):
    ...     return {"data": text, "expressedIn": {"code": language, "normalizedCode": language}}
    >>> records = [
    ...     {"id": 7, "owner": {"id": 4, "name": "Moulin"}, "nameLegal": [name("Pain", "fr"), name("Bread", "en")]},
    ...     {"id": 8, "owner": {"id": 5, "name": "Mill"}, "nameLegal": [name("Bread", "en")]},
    ...     {"id": 9, "owner": {"id": 6, "name": "Mulino"}, "nameLegal": [name("Pane", "it")]},
    ... ]
    >>> languages_of_suppliers(prodex.audit(prodex.flatten(records), "core"))
    {'4': 'fr', '5': 'en'}
    """
    if audit.catalog is None:
        return {}
    texts = audit.catalog.arrow("texts", ["product_id", "language"])
    place = pc.index_in(texts["language"], value_set=pa.array(_OWN_FIRST)).to_numpy()
    product = pc.index_in(texts["product_id"], value_set=audit.identity["product_id"].combine_chunks())
    groups = audit.groups("owner")
    owner = np.full(len(audit), -1, np.int64)
    owner[groups.rows] = groups.groups
    counts = np.zeros((len(groups.codes), len(_OWN_FIRST)), np.int64)
    frame = pd.DataFrame({"product": product.to_pandas(), "language": place}).dropna().astype(np.int64)
    np.add.at(counts, (owner[frame["product"].to_numpy()], frame["language"].to_numpy()), 1)
    return {
        code: _OWN_FIRST[int(own.argmax())]
        for code, own in zip(groups.codes, counts, strict=True)
        if code is not None and own.any()
    }
