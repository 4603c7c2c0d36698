"""What turns text into graphs: readers, vocabulary, vectors, parser."""
