"""Pictures of cuts and a window to look at them (PyVista)."""
