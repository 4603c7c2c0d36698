"""What the package offers from Python, for graphs of any kind; `bove` itself has all of its names."""
