"""The split over levels: equal at the start, trained to what the query needs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.split_network import SplitNetwork, split_cost  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def test_shares_start_equal_and_add_up():
    shares = SplitNetwork(8, levels=4)(torch.rand(5, 8), torch.rand(5, 8))
    assert torch.allclose(shares, torch.full((5, 4), 0.25))


def test_the_cost_is_read_between_the_entries_of_the_table():
    left = torch.tensor([[4.0, 2.0, 1.0, 1.0], [9.0, 6.0, 3.0, 0.0]])
    assert split_cost(torch.tensor([0.5, 0.5]), left, 3).item() == pytest.approx(1.5 + 4.5)
    assert split_cost(torch.tensor([0.0, 1.0]), left, 3).item() == pytest.approx(4)
    shares = torch.tensor([0.4, 0.6], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: split_cost(each, left.double(), 3), (shares,))
    with pytest.raises(ArrayError):
        split_cost(torch.tensor([0.5, 0.5]), left, 4)


def test_training_finds_the_split_that_each_kind_of_query_needs():
    """Fine detail for one kind of query, an overview for the other; the rule is learned and holds for new queries."""
    torch.manual_seed(0)
    kinds = torch.randn(2, 16)
    steps = torch.arange(65.0)
    falls = torch.exp(-steps / 12)
    flat = torch.full((65,), 0.5)
    tables = torch.stack([torch.stack([falls, flat]), torch.stack([flat, falls])])

    def sample(count: int):
        kind = torch.randint(2, (count,))
        return kinds[kind] + 0.3 * torch.randn(count, 16), torch.randn(count, 16), kind

    network = SplitNetwork(16, levels=2, hidden=64)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(150):
        query, gestalt, kind = sample(64)
        loss = split_cost(network(query, gestalt), tables[kind], 64).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    query, gestalt, kind = sample(400)
    right = network(query, gestalt).argmax(dim=-1) == kind
    assert float(right.float().mean()) > 0.95
    assert float(network(query, gestalt).max(dim=-1).values.median()) > 0.9


@pytest.mark.parametrize(
    "table", [torch.zeros(3, 4, 11), torch.zeros(2, 3, 11), torch.zeros(4, 11), torch.zeros(2, 4, 1)]
)
def test_a_table_of_other_splits_is_refused(table):
    with pytest.raises(ArrayError):
        split_cost(torch.full((2, 4), 0.25), table, 0)
