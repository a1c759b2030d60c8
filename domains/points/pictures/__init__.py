"""Pictures of clouds on the processor, enough to judge cuts by."""
