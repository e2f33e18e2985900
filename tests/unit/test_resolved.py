"""The links in `resolved/` answer as the receipts would."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from cvm.core.receipt import COPIED, INSTALLED, LINKED, Receipt
from cvm.core.toolchain import Toolchain, candidates, requests_answered
from cvm.core.version import Version
from cvm.layout import Layout
from cvm.resolved import Answer, refresh_links, resolve

NUMBERS = st.integers(0, 12).map(str)
TOOLKITS = st.one_of(
    st.lists(NUMBERS, min_size=3, max_size=3).map(".".join),
    st.sampled_from(["12.1", "12.1.1+lab", "13.0.0rc1", "13.0rc1", "12.4.1.post1"]),
)
COMPANION = st.lists(NUMBERS, min_size=2, max_size=4).map(".".join)


def toolchain(toolkit: str, companions: dict[str, str], *, home: str = "/h") -> Toolchain:
    name = "-".join([toolkit, *(product + version for product, version in companions.items())])
    receipt = Receipt(name=name, kind=INSTALLED, toolkit=toolkit, platform="linux-x86_64")
    versions = {product: Version(version) for product, version in companions.items()}
    return Toolchain(name, f"{home}/toolchains/{name}", Version(toolkit), receipt, versions)


TOOLCHAINS = st.builds(
    toolchain,
    TOOLKITS,
    st.fixed_dictionaries({}, optional={"cudnn": COMPANION, "nccl": COMPANION, "cutensor": COMPANION}),
)
UNIVERSES = st.lists(TOOLCHAINS, max_size=6, unique_by=lambda toolchain: toolchain.name)
# In the plain spelling, which has its companions in their order.
REQUESTS = st.builds(
    lambda toolkit, companions: "-".join(
        [toolkit, *(product + version for product, version in sorted(companions.items()))]
    ),
    st.one_of(TOOLKITS, NUMBERS, st.just("latest")),
    st.fixed_dictionaries(
        {}, optional={"cudnn": st.one_of(COMPANION, st.just("")), "nccl": st.one_of(COMPANION, NUMBERS)}
    ),
)


@given(UNIVERSES)
def test_every_link_means_what_the_receipts_say(universe: list[Toolchain]) -> None:
    for request, answer in requests_answered(universe).items():
        assert candidates(request, universe)[0] == answer


@given(UNIVERSES, REQUESTS)
@example([toolchain("0.0.0", {"cudnn": "0.0"})], "0.0.0-cudnn0.0.0")
@example([toolchain("13.0.0rc1", {})], "13.0rc1")
@example([toolchain("12.4.1.post1", {})], "12.4.1")
def test_a_request_has_a_link_when_it_has_an_answer(universe: list[Toolchain], request: str) -> None:
    found = candidates(request, universe)
    assert requests_answered(universe).get(request) == (found[0] if found else None)


def test_a_linked_toolkit_has_its_own_name_only() -> None:
    receipt = Receipt(name="site", kind=LINKED, toolkit="12.4", path="/usr/local/cuda")
    linked = Toolchain("site", "/usr/local/cuda", Version("12.4"), receipt)
    assert requests_answered([linked]) == {"site": linked}


def test_more_than_two_companions_have_the_name_in_full_only() -> None:
    three = toolchain("12.1.1", {"cudnn": "9.1", "nccl": "2.18", "cutensor": "2.0"})
    names = [request for request in requests_answered([three]) if request.count("-") == 3]
    assert names == ["12.1.1-cudnn9.1-nccl2.18-cutensor2.0"]


def installed(layout: Layout, *toolchains: Toolchain) -> None:
    for item in toolchains:
        Path(item.prefix).mkdir(parents=True, exist_ok=True)
    refresh_links(layout, toolchains)


def test_links_are_followed_to_a_name_and_a_prefix(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "h")
    tree = tmp_path / "tree"
    linked = Toolchain("site", str(tree), Version("12.4"), Receipt("site", LINKED, "12.4", path=str(tree)))
    installed(layout, toolchain("12.1.1", {}, home=str(layout.home)), linked)
    inside = layout.home / "toolchains" / "12.1.1"
    assert resolve(layout, "12.1") == Answer("12.1.1", layout.home, inside)
    assert resolve(layout, "site") == Answer("site", layout.home, tree)
    for odd in ("12.2", "", "..", "../toolchains/12.1.1", "a\0b", "x" * 5000):
        assert resolve(layout, odd) is None


def test_a_link_to_what_is_gone_answers_nothing(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    installed(layout, toolchain("12.1.1", {}, home=str(tmp_path)))
    (tmp_path / "toolchains" / "12.1.1").rmdir()
    assert resolve(layout, "12.1") is None


def test_ones_own_home_answers_before_the_site(tmp_path: Path) -> None:
    own, site = Layout(tmp_path / "own", tmp_path / "site"), Layout(tmp_path / "site")
    installed(site, toolchain("12.1.1", {}, home=str(site.home)))
    answer = resolve(own, "12.1")
    assert answer == Answer("12.1.1", site.home, site.home / "toolchains" / "12.1.1")
    installed(own, toolchain("12.1.0", {}, home=str(own.home)))
    answer = resolve(own, "12.1")
    assert answer == Answer("12.1.0", own.home, own.home / "toolchains" / "12.1.0")


def test_names_of_other_platforms_are_links_too(tmp_path: Path) -> None:
    receipt = Receipt("12.1.1-linux-sbsa", COPIED, "12.1.1", platform="linux-sbsa")
    foreign = Toolchain(receipt.name, f"{tmp_path}/toolchains/{receipt.name}", Version("12.1.1"), receipt)
    assert list(requests_answered([foreign])) == ["12.1.1-linux-sbsa"]
