"""The `bove` command: one small module per stage."""
