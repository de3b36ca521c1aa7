"""The feed: a subscriber that keeps every game of the hall as PGN and PDN, for whoever shows games to the world.

It uses nothing but the public topics of the contract, so it works with any broker and any number of gateways.
`games` and `relay` are pure (events and times in, texts out); `files`, `server`, `lichess` and `service` do the rest.
"""
