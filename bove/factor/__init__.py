"""The mathematics: arrays in, arrays out; no files, no logging, no text."""
