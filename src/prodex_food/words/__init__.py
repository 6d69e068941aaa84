"""Words of labels, in tables that people can read and correct: tab separated, folded, one language a row."""
