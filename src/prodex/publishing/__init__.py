"""Publishing: a snapshot as Delta tables in a folder or an object store, for a team and for other programs."""

from prodex.publishing.publication import Publication
from prodex.publishing.publish_snapshot import publish
from prodex.publishing.reading import open_published

__all__ = ["Publication", "open_published", "publish"]
