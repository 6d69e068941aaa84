"""What a product is: its name, its market, its owner, what is its own and what waits, and its groups."""
