# It imports all of VTK, whose bindings are 140 MB.
from typing import Any

def __getattr__(name: str) -> Any: ...
