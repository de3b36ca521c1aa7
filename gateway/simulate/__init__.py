"""Hands that move pieces, boards that sample them, and the bytes these boards send: for tests and demos."""
