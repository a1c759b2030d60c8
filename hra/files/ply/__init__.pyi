from .columns import Columns as Columns
from .columns import Lists as Lists
from .columns import split_origin as split_origin
from .reading import read_elements as read_elements
from .writing import binary_table as binary_table
