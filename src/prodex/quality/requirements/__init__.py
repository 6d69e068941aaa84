"""Requirements: what each channel asks of the products of each family; judging by them, and completeness."""

from prodex.quality.requirements.values import (
    ALL,
    Ask,
    Asked,
    Channel,
    Family,
    Level,
    Requirement,
    Requirements,
)

__all__ = ["ALL", "Ask", "Asked", "Channel", "Family", "Level", "Requirement", "Requirements"]
