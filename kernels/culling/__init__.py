"""Hi-Z occlusion culling: bounds as rectangles and depths, and what lies behind a depth buffer."""
