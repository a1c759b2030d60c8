from .answers import Answer as Answer
from .answers import Answers as Answers
from .configurations import configuration as configuration
from .cost import Cost as Cost
from .cost import CostModel as CostModel
from .images import shown as shown
from .reduce import reduce as reduce
from .reduced import Reduced as Reduced
