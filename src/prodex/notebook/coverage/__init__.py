"""Coverage: which attributes are filled, in which languages and groups of products."""
