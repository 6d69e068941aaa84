"""Pictures of a catalogue: downloading, checking, thumbnails, and contact sheets."""

from prodex.pictures.contact_sheet import Gallery
from prodex.pictures.download import download_pictures
from prodex.pictures.result import Pictures

__all__ = ["Gallery", "Pictures", "download_pictures"]
