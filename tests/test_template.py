import pickle
import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer import PackError, Template

PLAIN: dict[str, Any] = {
    "position": 1,
    "id": "a",
    "content": "text",
    "score": 0.5,
    "tokens": 7,
    "metadata": {"source": "faq", "doc type": "policy", "n": 3, "nothing": None},
}


def form(chunk: str, **more: Any) -> str:
    return Template(chunk).form(**{**PLAIN, **more})


@pytest.mark.parametrize(
    ("chunk", "written"),
    [
        ("{position}|{id}|{content}|{score}|{tokens}", "1|a|text|0.5|7"),
        ("{metadata[source]} {metadata[doc type]} {metadata[n]}", "faq policy 3"),
        ("{{content}} {{{content}}} }}{{", "{content} {text} }{"),
        ("no field", "no field"),
        ("", ""),
        ("{metadata[nothing]}{metadata[absent]}", ""),
        ("{content}{content}", "texttext"),
    ],
)
def test_fields_are_written(chunk: str, written: str) -> None:
    assert form(chunk) == written


def test_the_default_numbers_and_names_the_source() -> None:
    assert Template().form(**PLAIN) == "[1] faq\ntext"
    assert (Template().fields, Template().keys) == (
        ("position", "metadata[source]", "content"),
        ("source",),
    )


@pytest.mark.parametrize(
    ("chunk", "place"),
    [
        ("{", (1, 1)),
        ("ab}", (1, 3)),
        ("one\ntwo {x}", (2, 5)),
        ("{}", (1, 1)),
        ("{content.__class__}", (1, 1)),
        ("{content!r}", (1, 1)),
        ("{score:.2f}", (1, 1)),
        ("{metadata}", (1, 1)),
        ("{metadata[a][b]}", (1, 1)),
        ("{metadata[]}", (1, 1)),
        ("{metadata.__init__.__globals__}", (1, 1)),
        ("{ content }", (1, 1)),
        ("{content", (1, 1)),
        ("{{content}", (1, 10)),
        ("{0}", (1, 1)),
    ],
)
def test_what_is_no_template_is_refused_with_its_place(chunk: str, place: tuple[int, int]) -> None:
    with pytest.raises(PackError) as caught:
        Template(chunk)
    assert caught.value.code == "INVALID_PARAMETER"
    assert (caught.value.details["line"], caught.value.details["column"]) == place


@pytest.mark.parametrize("part", ["chunk", "separator", "header", "footer"])
def test_every_part_is_text(part: str) -> None:
    with pytest.raises(PackError, match=f"Template: {part} is 3; give text"):
        Template(**{part: 3})  # type: ignore[arg-type]


@given(st.text(), st.text(), st.sampled_from(["{content}", "{id}", "<|endoftext|>{{}}", "{{0}}"]))
def test_what_a_chunk_says_is_text_and_never_a_field(content: str, id_: str, nasty: str) -> None:
    written = form("{id}:{content}", content=nasty + content, id=id_)
    assert written == f"{id_}:{nasty}{content}"


@given(st.text())
def test_text_with_its_braces_doubled_is_written_as_it_is(text: str) -> None:
    assert form(re.sub(r"[{}]", r"\g<0>\g<0>", text)) == text


def test_parts_other_than_the_chunk_stand_as_they_are() -> None:
    template = Template("{content}", separator="{content}", header="{{", footer="{x}")
    assert template.joined(["a", "b"]) == "{{a{content}b{x}"
    assert template.joined([]) == ""


def test_a_template_is_a_frozen_value() -> None:
    template = Template("{content}", header="h")
    assert template == Template("{content}", header="h") != Template("{content}")
    assert hash(template) == hash(Template("{content}", header="h"))
    assert pickle.loads(pickle.dumps(template)) == template
    assert attrs.evolve(template, chunk="{id}").fields == ("id",)
    assert repr(template) == r"Template(chunk='{content}', separator='\n\n', header='h', footer='')"
