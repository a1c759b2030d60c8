"""The textures suite: splits, replays, plans and views beside what engines do."""
