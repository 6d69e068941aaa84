"""What a card is made of: the record of a product in all tables, and its texts by language."""
