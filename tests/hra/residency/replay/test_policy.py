from __future__ import annotations

import pytest

from hra.errors import HraError
from hra.residency import Log
from hra.residency.replay.evaluation import evaluate_log
from tests.helpers.evaluation_cases import TRACE, log

WRONG = {
    "more than the pool": log([0, 1, 2], [], []),
    "loaded twice": log([0, 0], [], []),
    "evicted in vain": log([-1], [], []),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_log_that_breaks_the_rules_is_refused(wrong: Log):
    with pytest.raises(HraError, match="broke the rules"):
        evaluate_log("wrong", wrong, TRACE, 8)
