"""Files of bags of vectors: whole, in shards."""
