"""The files of products: what a record says of them, drawn so that it is true, and served."""
