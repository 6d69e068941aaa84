"""Pictures of a catalogue: downloaded and checked, and shown as a contact sheet."""

from prodex.pictures.downloading import download_pictures
from prodex.pictures.outcome import Pictures

__all__ = ["Pictures", "download_pictures"]
