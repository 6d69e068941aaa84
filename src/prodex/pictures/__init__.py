"""Pictures of a catalogue: downloading, checking, thumbnails, and contact sheets."""

from prodex.pictures.contact_sheet import Gallery, gallery
from prodex.pictures.download import download_pictures
from prodex.pictures.result import Pictures
from prodex.pictures.thumbnails import Thumbnail, thumbnails

__all__ = ["Gallery", "Pictures", "Thumbnail", "download_pictures", "gallery", "thumbnails"]
