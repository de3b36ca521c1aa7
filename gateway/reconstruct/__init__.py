"""From sensor changes to the game: rival readings of what was played, and what the hall is told of them."""
