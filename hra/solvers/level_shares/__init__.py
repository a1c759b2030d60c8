"""What `LevelShares` computes with: prices, moves and enumerations of sets with minimum shares."""
