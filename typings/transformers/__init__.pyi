# Its __init__ imports hundreds of models, which the checker of types would read for half a minute. All that is used of
# them are factories, whose models are of any type.
from typing import Any

def __getattr__(name: str) -> Any: ...
