"""The gallery: products by their pictures, page by page or by the values of a facet."""
