"""What turns bags into results: alignment scores, metrics, tables."""
