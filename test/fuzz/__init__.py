"""A differential fuzzer of kc: random StableHLO modules against the reference interpreter. See README.md."""
