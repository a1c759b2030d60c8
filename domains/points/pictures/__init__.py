"""Pictures of clouds on the processor: what is drawn, and what a picture loses by a coarser node."""
