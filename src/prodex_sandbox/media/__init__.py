"""The files of products: found in the records, drawn so that they agree with them, and served."""
