"""Loading: from the service to a catalogue; each product once, resumable, and with a report of what is missing.

There are three separate steps: fetch (pages into the journal), plan (what to build, and whether it is complete), build
(Parquet, part by part). Only the first one needs the network.
"""

from prodex.load.products import load_products, load_rich_content, recover
from prodex.load.refresh import refresh

__all__ = ["load_products", "load_rich_content", "recover", "refresh"]
