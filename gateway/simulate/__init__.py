"""Hands that move pieces, boards that sample them, and the bytes these boards send: what the tests and demos play on."""
