"""Loading: from the service to a catalogue, everything once, resumable, with a word on what is missing.

Three steps, each on its own: fetch (pages to the journal), plan (what to build, and is it all?), build (Parquet,
part by part). Only the first needs the network.
"""

from prodex.load.budget import LoadBudget
from prodex.load.products import load_products, load_rich_content, recover
from prodex.load.refresh import refresh

__all__ = ["LoadBudget", "load_products", "load_rich_content", "recover", "refresh"]
