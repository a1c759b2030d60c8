"""The network of query-adaptive strata: the grids it can name, and gradients to its weights."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.strata_network import StrataNetwork, expected_cost  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def answering(height: float, width: float, granularity: float, aspect: float) -> StrataNetwork:
    """A network that gives every query these four outputs."""
    network = StrataNetwork()
    state = network.state_dict()
    state["layers.2.weight"].zero_()
    state["layers.2.bias"].copy_(torch.tensor([height, width, granularity, aspect]))
    return network


def logit(rows: float) -> float:
    share = (rows - 2) / 6
    return math.log(share / (1 - share))


def test_it_is_768_256_relu_4():
    shapes = [tuple(parameter.shape) for parameter in StrataNetwork().parameters()]
    assert shapes == [(256, 768), (256,), (4, 256), (4,)]


def test_the_grids_are_2_to_8_squared_and_two_strips():
    grids = {tuple(grid) for grid in StrataNetwork().grids.tolist()}
    assert grids == {(h, w) for h in range(2, 9) for w in range(2, 9)} | {(1, 4), (4, 1)}


@pytest.mark.parametrize(
    ("outputs", "grid"),
    [
        ((logit(4), logit(4), 0, 0), (4, 4)),
        ((logit(3), logit(7), 0, 0), (3, 7)),
        ((logit(4), logit(4), 9, 0), (8, 8)),
        ((logit(4), logit(6), -9, 0), (2, 3)),
        ((-9, logit(2.1), 0, 9), (1, 4)),
        ((logit(2.1), -9, 0, -9), (4, 1)),
        ((logit(4), logit(4), 0, 9), (2, 8)),
    ],
)
def test_outputs_name_the_nearest_grid(outputs, grid):
    network = answering(*outputs)
    assert network.grid(torch.zeros(768)) == grid
    probabilities = network.probabilities(torch.zeros(5, 768))
    assert probabilities.shape == (5, 51)
    assert probabilities.sum(dim=-1).tolist() == pytest.approx([1] * 5)


def test_the_start_is_reproducible_and_leaves_the_global_generator_alone():
    state = torch.get_rng_state()
    query = torch.rand(768, generator=torch.Generator().manual_seed(1))
    assert torch.equal(StrataNetwork()(query), StrataNetwork()(query))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_gradient_is_right():
    network = StrataNetwork(width=5, hidden=4).double()
    query = torch.rand(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    cost = torch.rand(3, 51, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert torch.autograd.gradcheck(lambda q: expected_cost(network.probabilities(q), cost), (query,))


def test_descending_the_expected_cost_finds_the_cheapest_grid():
    network, query = StrataNetwork(), torch.rand(768, generator=torch.Generator().manual_seed(0))
    wanted = network.grids.tolist().index([6, 3])
    cost = (network.grids - torch.tensor([6, 3])).float().square().sum(dim=-1)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(60):
        optimiser.zero_grad()
        expected_cost(network.probabilities(query), cost).backward()
        optimiser.step()
    assert network.grid(query) == (6, 3)
    assert int(network.probabilities(query).argmax()) == wanted
    assert all(parameter.grad is not None for parameter in network.parameters())


def test_temperatures_are_checked():
    with pytest.raises(ArrayError):
        StrataNetwork().probabilities(torch.zeros(768), temperature=0.0)


def test_weights_that_are_put_in_place_leave_the_grids_as_they_are():
    """As loaders do that make a network without values first."""
    network = StrataNetwork(16, 8)
    with torch.device("meta"):
        loaded = StrataNetwork(16, 8)
    loaded.to_empty(device="cpu").load_state_dict(network.state_dict())
    assert torch.equal(loaded.grids, network.grids)
    query = torch.rand(16, generator=torch.Generator().manual_seed(0))
    assert loaded.grid(query) == network.grid(query)
    with pytest.raises(ArrayError, match="queries"):
        network.grid(query[None])
