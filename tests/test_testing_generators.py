"""The generators that users get: each profile has what it promises, a catalog of theirs is enough."""

import itertools
import math
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import packer.testing
from packer import Chunk, Filter, PackError, Pool
from packer.errors import OverBudget
from packer.parameters import function, number
from packer.testing import LawBroken, chunks, laws_of, policies, pools, stages
from packer.testing.calls import requests
from packer.testing.cases import PINNED, cases
from packer.testing.chunk_lists import PROFILES, Profile
from packer.testing.material import BOOK
from packer.testing.parameter_values import shortest, values_of
from packer.testing.pasting import chunks_source, source
from packer.testing.registered import parametrize, registered
from packer.testing.vocabulary import vocabulary
from strategies import CATALOG, custom, greedy, threshold, ushape
from tests.sampling import sample


@attrs.frozen(repr=False)
class Longest(Filter):
    """Fields without a domain: their types say what they may be."""

    name = "longest"
    characters: int
    share: float = 0.5
    strict: bool = attrs.field(default=False, kw_only=True)
    key: str = attrs.field(default="source", kw_only=True)

    def __call__(self, pool: Pool, /) -> Pool:
        return pool.keep([len(t) <= self.characters for t in pool.texts], reason="metadata")


@attrs.frozen(repr=False)
class Judged(Filter):
    """A field that nothing is known of, and one of a function."""

    name = "judged"
    judge: object
    by: Any = function()

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


def a_filter(floor: float) -> Filter:
    return threshold(floor)


# -- profiles ------------------------------------------------------------------------------


def lists(profile: Profile, size: int = 150, **options: Any) -> list[list[Chunk]]:
    return sample(chunks(profile, **options), size)


def test_near_ties_are_equal_scores_last_bits_and_twins() -> None:
    found = lists("near-tie")
    scores = {chunk.score for made in found for chunk in made}
    assert {0.5, math.nextafter(0.5, 1.0)} <= scores
    twins = [
        made
        for made in found
        if len({attrs.evolve(c, id=None).__repr__() for c in made}) < len(made)
    ]
    assert len(twins) > 30
    assert all({c.id for c in made} == {f"c{at}" for at in range(len(made))} for made in found)
    assert all(len(made) <= 12 for made in found)


def test_twins_are_many_of_few_kinds_with_ids_in_any_order() -> None:
    found = lists("twins", 100, min_size=4, max_size=8)
    kinds = [[repr(attrs.evolve(chunk, id=None)) for chunk in made] for made in found]
    assert all(len(set(texts)) <= 3 for texts in kinds)
    rising = [
        str(one.id) < str(other.id)
        for made in found
        for one, other in itertools.pairwise(made)
        if attrs.evolve(one, id=other.id) == other
    ]
    assert min(rising.count(True), rising.count(False)) > 20


def test_near_duplicates_differ_by_a_number_or_a_hair() -> None:
    found = lists("near-duplicate", embedded=True)
    texts = {chunk.content for made in found for chunk in made}
    assert len({text.translate(str.maketrans("", "", "0123456789")) for text in texts}) == 3
    near = set()
    for made in found:
        for chunk in made:
            assert chunk.embedding is not None
            near.add(tuple(np.round(chunk.embedding.astype(float), 8).tolist()))
    assert (1.0, 0.0, 0.0) in near
    assert any(0 < abs(vector[1]) < 1e-6 for vector in near)


def test_adversarial_lengths_are_nothing_and_more_than_anything() -> None:
    made = [chunk for chunks_ in lists("adversarial-length") for chunk in chunks_]
    assert {0, 1, 2**40, None} <= {chunk.tokens for chunk in made}
    lengths = [len(chunk.content) for chunk in made]
    assert min(lengths) == 1
    assert max(lengths) > 2000


def test_hostile_metadata_has_every_type_under_any_key() -> None:
    made = [chunk for chunks_ in lists("hostile-metadata") for chunk in chunks_]
    values = [value for chunk in made for value in chunk.metadata.values()]
    assert {type(None), str, int, float, bool, bytes, list, dict, tuple} <= set(map(type, values))
    assert any(isinstance(value, float) and math.isnan(value) for value in values)
    assert {"", "class", "source"} <= {key for chunk in made for key in chunk.metadata}


def span(chunk: Chunk) -> tuple[int, int]:
    start, end = chunk.metadata["start"], chunk.metadata["end"]
    assert isinstance(start, int)
    assert isinstance(end, int)
    return start, end


def overlapping(made: list[Chunk]) -> bool:
    """Whether two chunks are windows of one source that have characters in common."""
    spans = sorted(span(chunk) for chunk in made if chunk.metadata.get("source") == "book")
    return any(second[0] < first[1] for first, second in itertools.pairwise(spans))


def test_overlapping_lists_are_windows_of_one_text() -> None:
    made = lists("overlapping")
    for chunk in itertools.chain(*made):
        start, end = span(chunk)
        assert chunk.content == BOOK[start:end]
    assert sum(map(overlapping, made)) > 75
    assert sum(map(overlapping, lists("ordinary"))) > 5


def test_some_generated_calls_charge_a_chunk_less_than_it_has() -> None:
    words = {"overlap": CATALOG["overlap"], "greedy": greedy}
    calls = sample(requests(policies(words)), 300)
    packed = [call.packed() for call in calls if "overlap" in repr(call.policy)]
    less = [one for one in packed if any(chunk.charged < chunk.tokens for chunk in one)]
    assert len(less) > 10


def test_rules_of_most_cases_bite() -> None:
    made = [case for case in sample(cases(st.just(greedy)), 200) if case.rules]
    bites = {"pin": 0, "cap": 0}
    for case in made:
        free = greedy(case.pool()).ids
        for rule in case.rules:
            try:
                bites[rule.name] += greedy(rule(case.pool())).ids != free
            except OverBudget:  # the pins alone
                continue
    assert min(bites.values()) > 15, bites


def test_mixed_lists_are_of_every_profile() -> None:
    made = lists("mixed", 200)
    assert any(chunk.tokens == 2**40 for chunks_ in made for chunk in chunks_)
    assert any("__class__" in chunk.metadata for chunks_ in made for chunk in chunks_)


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
def test_every_profile_makes_valid_chunks(profile: Profile, data: st.DataObject) -> None:
    named = data.draw(st.booleans())
    given_chunks = data.draw(chunks(profile, named=named, distinct_scores=True))
    assert len({chunk.score for chunk in given_chunks}) == len(given_chunks)
    assert len(Pool.from_chunks(given_chunks)) <= len(given_chunks)
    assert len(data.draw(pools(profile=profile))) <= 12


def test_profile_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(PackError, match="profile is 'nasty'; give one of 'ordinary'"):
        chunks("nasty")  # type: ignore[arg-type]


# -- catalogs ------------------------------------------------------------------------------


def test_words_may_be_classes_stages_functions_and_strategies() -> None:
    words = {
        "longest": Longest,
        "greedy": greedy,
        "threshold": CATALOG["threshold"],
        "ushape": st.just(ushape),
    }
    found = {repr(step).partition("(")[0] for step in map(_first, sample(policies(words), 60))}
    assert {"longest", "greedy", "threshold"} <= found
    made = sample(stages("longest", words), 60)
    assert {stage.strict for stage in made} == {True, False}
    assert len({stage.characters for stage in made}) > 5
    assert all(isinstance(stage.share, float) and isinstance(stage.key, str) for stage in made)


def _first(policy: Any) -> Any:
    return getattr(policy, "steps", (policy,))[0]


def test_words_that_say_too_little_are_refused_with_the_mend() -> None:
    with pytest.raises(PackError, match="'mine' is no word of the catalog"):
        stages("mine")
    with pytest.raises(PackError, match="no class of stages is known for the word 'mine'"):
        vocabulary({"mine": a_filter}).kind_of("mine")
    with pytest.raises(PackError, match="no values are known for judge of judged"):
        values_of(Judged, "judge")
    with pytest.raises(PackError, match="no values are known for by of judged"):
        values_of(Judged, "by")
    with pytest.raises(PackError, match="a policy needs a selector"):
        policies({"threshold": CATALOG["threshold"]})


def test_number_fields_with_a_domain_are_within_it() -> None:
    @attrs.frozen(repr=False)
    class Share(Filter):
        name = "share"
        share: float = number(0.0, 1.0, above=0.0)

        def __call__(self, pool: Pool, /) -> Pool:
            return pool

    made = sample(stages("share", {"share": Share}), 50)
    assert all(0.0 < stage.share <= 1.0 for stage in made)


# -- cases ---------------------------------------------------------------------------------


def test_cases_have_pins_quotas_and_budgets_at_the_edge() -> None:
    made = sample(cases(st.just(greedy)), 200)
    assert any(PINNED in chunk.metadata for case in made for chunk in case.chunks)
    assert any("cap" in repr(case.rules) for case in made)
    left = [case.budget - int(case.pool().costs.sum()) for case in made]
    assert {-1, 0, 1} <= set(left)
    places = sample(cases(st.just(ushape)), 100)
    assert any(len(case.selection()) < len(case.selection().pool) for case in places)


@pytest.mark.parametrize("profile", PROFILES)
@given(data=st.data())
def test_code_of_any_chunks_rebuilds_them(profile: Profile, data: st.DataObject) -> None:
    given_chunks = data.draw(chunks(profile, named=False))
    names: dict[str, Any] = {}
    exec(f"import datetime\nfrom packer import Chunk\n{chunks_source(given_chunks)}", names)
    assert list(map(repr, names["chunks"])) == list(map(repr, given_chunks))


def test_sets_and_numpy_values_are_code_too() -> None:
    assert source({"b", "a"}) == "set(['a', 'b'])"
    assert source(frozenset()) == "frozenset([])"
    assert source((np.float32(0.5), np.arange(2))) == "(0.5, [0, 1])"
    assert source(-math.inf) == "float('-inf')"
    assert eval(source("\u202e\ud800 \u00e9")) == "\u202e\ud800 \u00e9"


# -- what a project registers --------------------------------------------------------------

STAGES = [threshold(0.5), threshold(0.5) | greedy]
FILTERS = {
    "longest": Longest,
    "drawn": st.just(threshold(0.5)),
    "by_function": custom(shortest),
}
NOTHING = 3


def test_registered_lists_and_catalogs_become_laws() -> None:
    here = __name__
    listed = [(entry.name, entry.catalog) for entry in registered(f"{here}:STAGES")]
    assert listed == [("threshold(0.5)", None), ("threshold(0.5) | greedy", None)]
    entries = {entry.name: entry for entry in registered(f"{here}:FILTERS")}
    assert type(entries["longest"].sample) is Longest
    read = {name: entry.catalog is FILTERS for name, entry in entries.items()}
    assert read == {"longest": True, "drawn": False, "by_function": False}
    assert entries["drawn"].catalog is entries["by_function"].catalog is None
    given_options = {"packer_stages": [f"{here}:STAGES", f"{here}:FILTERS"], "packer_examples": "5"}
    config = SimpleNamespace(getini=given_options.__getitem__)
    found: dict[str, Any] = {}
    metafunc: Any = SimpleNamespace(
        config=config, parametrize=lambda name, trials: found.update({name: trials})
    )
    parametrize(metafunc)
    names = [trial.id for trial in found["packer_law"]]
    own = len(laws_of(threshold(0.5)))
    of_custom, of_policy = laws_of(custom(shortest)), laws_of(threshold(0.5) | greedy)
    assert len(names) == 3 * own + 1 + len(of_custom) + len(of_policy)
    assert "threshold(0.5)-filter_narrows" in names
    assert [name for name in names if "its_text" in name] == ["longest-policy_is_its_text"]
    for trial in found["packer_law"][:3]:
        trial.values[0]()


@attrs.frozen(repr=False)
class Mislabelled(Filter):
    """Its text is another word than that which the catalog has."""

    name = "mislabeled"
    is_constant = True

    def __call__(self, pool: Pool, /) -> Pool:
        return pool


MISLABELLED = {"mislabelled": Mislabelled()}


def test_text_of_a_registered_catalog_is_read_back() -> None:
    getini = {"packer_stages": [f"{__name__}:MISLABELLED"], "packer_examples": "5"}.__getitem__
    found: dict[str, Any] = {}
    metafunc: Any = SimpleNamespace(
        config=SimpleNamespace(getini=getini),
        parametrize=lambda name, trials: found.update({trial.id: trial for trial in trials}),
    )
    parametrize(metafunc)
    found["mislabelled-filter_narrows"].values[0]()
    with pytest.raises(LawBroken, match="there is no stage 'mislabeled'"):
        found["mislabelled-policy_is_its_text"].values[0]()


def test_registered_wrong_is_told() -> None:
    for path, told in (
        (f"{__name__}:NOTHING", "is 3; give a mapping or a list of stages"),
        (f"{__name__}:MISSING", "cannot be imported"),
        ("nowhere:STAGES", "cannot be imported"),
        ("", "cannot be imported"),
    ):
        with pytest.raises(PackError, match=told):
            list(registered(path))
    config = SimpleNamespace(getini={"packer_stages": [], "packer_examples": "5"}.__getitem__)
    metafunc: Any = SimpleNamespace(config=config)
    with pytest.raises(pytest.UsageError, match="set packer_stages"):
        parametrize(metafunc)


# -- imports -------------------------------------------------------------------------------


def test_names_are_imported_when_asked_for_and_missing_hypothesis_is_told() -> None:
    assert dir(packer.testing) == packer.testing.__all__ == sorted(packer.testing.__all__)
    for name in packer.testing.__all__:
        assert getattr(packer.testing, name).__name__ == name
    program = (
        "import sys, packer.testing\n"
        "assert not {'hypothesis', 'numba', 'pytest'} & set(sys.modules)\n"
        "sys.modules['hypothesis'] = None\n"
        "try:\n    packer.testing.check_stage\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "packer.testing.check_stage needs Hypothesis: pip install 'chunk-packer[testing]'\n"
    )
