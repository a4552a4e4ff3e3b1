"""Models made to do harm, each built where it is tested: BUILDERS, name -> bytes."""

from tests.security.models import graphs, nested, tensors, wire
from tests.security.models.make import BUILDERS

__all__ = ["BUILDERS", "graphs", "nested", "tensors", "wire"]
