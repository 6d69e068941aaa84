"""Charts in one style: figures and their answer go in, a matplotlib `Figure` comes out.

The style works on a light and on a dark page: nothing is painted behind the chart, letters are a grey that both carry,
and everybody can distinguish the colours (Okabe and Ito's blue and vermilion; the shades of `display.style` for scores
and shares). Suppliers' texts are drawn letter by letter: no maths, no line breaks, and a box for characters that no
font has.
"""

from prodex.display.charts.audit_charts import grades_over_time, largest_gaps, score_map
from prodex.display.charts.bar import bars, stacks
from prodex.display.charts.heatmap import heat, shares
from prodex.display.charts.histogram import histogram
from prodex.display.charts.line import steps
from prodex.display.style import SCORES, shade

__all__ = [
    "SCORES",
    "bars",
    "grades_over_time",
    "heat",
    "histogram",
    "largest_gaps",
    "score_map",
    "shade",
    "shares",
    "stacks",
    "steps",
]
