"""The rules of food, by what of a label they judge."""
