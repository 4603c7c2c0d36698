"""What a file is, what it holds, and what is odd in it, before any stage reads it."""
