"""What a subscriber sees of a hall, in a terminal: messages and time in, lines of text out.

`view`, `words`, `squares`, `text` and `render` are pure; `listen` holds the connection and `screen` the terminal.
"""
