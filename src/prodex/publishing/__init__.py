"""Publishing: a snapshot as Delta tables in a folder or an object store, for a team and for other programs."""

from prodex.publishing.publication import Publication
from prodex.publishing.reading import open_published
from prodex.publishing.upload_snapshot import publish

__all__ = ["Publication", "open_published", "publish"]
