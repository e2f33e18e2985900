from __future__ import annotations

from cvm.core.manifest import Archive
from cvm.core.plan import Plan, PlannedArchive, PlannedRelease
from cvm.core.version import Version
from cvm.prefix.parts import PrefixFacts, facts_of


def test_the_facts_of_a_plan_name_its_components():
    def release(product, *planned):
        return PlannedRelease(product, Version("12.1.1"), "12.1.1", "redist", planned)

    archive = Archive("redist", "linux-sbsa", "a.tar.xz", "0" * 64, 1)
    nvcc = PlannedArchive("cuda", "cuda_nvcc", "12.1.105", "", archive, "CUDA NVCC")
    cudnn = PlannedArchive("cudnn", "cudnn", "8.9.4.25", "", archive)
    facts = facts_of(Plan("12.1.1", "linux-sbsa", "devel", (release("cuda", nvcc), release("cudnn", cudnn))))
    assert facts == PrefixFacts(
        Version("12.1.1"), "linux-sbsa", (("cuda_nvcc", "CUDA NVCC", "12.1.105"), ("cudnn", "cudnn", "8.9.4.25"))
    )
    assert (facts.minor, facts.triple) == ("12.1", "sbsa-linux")
