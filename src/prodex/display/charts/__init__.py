"""Charts in one style: figures and their answer go in, a matplotlib `Figure` comes out.

The style holds on a light and on a dark page: nothing is painted behind the chart, letters are a grey that both
carry, and colours are told apart by everybody (Okabe and Ito's blue and vermilion; cividis for shares). What suppliers
typed is drawn letter by letter: no maths, no line breaks, and a box for what no font has.
"""

from prodex.display.charts.bar import bars, stacks
from prodex.display.charts.heatmap import SCORES, heat, shade, shares
from prodex.display.charts.histogram import histogram
from prodex.display.charts.line import steps

__all__ = ["SCORES", "bars", "heat", "histogram", "shade", "shares", "stacks", "steps"]
