"""What is held and what it shows: page orders, pools of every size, and a path over time."""
