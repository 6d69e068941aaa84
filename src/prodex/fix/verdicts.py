"""What an audit says of the products that were answered: the result of each check, and what was found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
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

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Attribute and language: what two audits have in common of a finding."""
        return self.attribute, self.language


@dataclass(frozen=True)
class Verdicts:
    """The results of an audit for some products.

    Attributes
    ----------
    results
        By product and check.
    findings
        What was found where a check fails.
    """

    results: Mapping[Asked, State]
    findings: Mapping[Asked, Sequence[Finding]]

    @classmethod
    def of(cls, audit: Audit, products: Collection[str]) -> Self:
        """Return the results of an audit for some products."""
        wanted = frozenset(products)
        checks = [check.id for check in audit.checks]
        results: dict[Asked, State] = {}
        for part in audit.parts:
            rows = [
                (row, product)
                for row, product in enumerate(part.column("product_id").to_pylist())
                if product in wanted
            ]
            for row, product in rows:
                states = part.states[row].tolist()
                results.update(
                    ((product, check), State(state)) for check, state in zip(checks, states, strict=True)
                )
        findings: dict[Asked, list[Finding]] = defaultdict(list)
        names = ("product_id", "check", *Finding._fields)
        for batch in audit.failure_batches():
            for product, check, *found in zip(
                *(batch.column(name).to_pylist() for name in names), strict=True
            ):
                if product in wanted:
                    findings[product, check].append(Finding(*found))
        return cls(results, findings)

    def newly_found(self, before: Verdicts) -> Iterator[tuple[Asked, Finding]]:
        """Yield what is found here and was not before, with its product and check.

        A place that a check had found before is not new, whatever is found there now.
        """
        for asked, findings in self.findings.items():
            if self.results.get(asked) is not State.FAIL:
                continue
            there = Counter(one.place for one in before.findings.get(asked, ()))
            for one in findings:
                if there[one.place]:
                    there[one.place] -= 1
                else:
                    yield asked, one
