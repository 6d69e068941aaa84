"""What an audit says of the checks that were answered: the result for each product, and what was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from prodex.quality.audit import Audit
from prodex.quality.states import State

#: Product id and id of a check.
Asked = tuple[str, str]


class Finding(NamedTuple):
    """What a check found: the place, the value there, and why it fails; each as far as the rule says it."""

    attribute: str | None
    language: str | None
    value: str | None
    reason: str | None


@dataclass(frozen=True)
class Verdicts:
    """The results of an audit for some checks of some products.

    Attributes
    ----------
    results
        By product and check; without those that the audit does not have.
    findings
        What was found where a check fails.
    """

    results: Mapping[Asked, State]
    findings: Mapping[Asked, Sequence[Finding]]

    @classmethod
    def of(cls, audit: Audit, asked: Collection[Asked]) -> Self:
        """Return the results of an audit for some products and checks."""
        columns = {check.id: place for place, check in enumerate(audit.checks)}
        wanted: dict[str, set[str]] = defaultdict(set)
        for product, check in asked:
            if check in columns:
                wanted[product].add(check)
        results: dict[Asked, State] = {}
        for part in audit.parts:
            for row, product in enumerate(part.column("product_id").to_pylist()):
                for check in wanted.get(product, ()):
                    results[product, check] = State(int(part.states[row, columns[check]]))
        findings: dict[Asked, list[Finding]] = defaultdict(list)
        names = ("product_id", "check", *Finding._fields)
        for batch in audit.failure_batches():
            for product, check, *found in zip(
                *(batch.column(name).to_pylist() for name in names), strict=True
            ):
                if (product, check) in results:
                    findings[product, check].append(Finding(*found))
        return cls(results, findings)
