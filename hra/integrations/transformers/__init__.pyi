from .images import shown as shown
from .reduce import reduce as reduce
from .reduced import Reduced as Reduced
