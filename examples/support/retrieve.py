"""A small retriever: rank the support documents for a query, as JSON lines on stdout.

Each line is one chunk with the keys id, content, score, embedding and metadata, best
first. The score is the mean of two cosines: of TF-IDF vectors, and of LSA embeddings.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Metadata: TypeAlias = dict[str, str | int]

DOCUMENTS = Path(__file__).parent / "documents"
QUERY = "How long do I have to return a damaged item, and who pays for the shipping?"
DIMENSIONS = 64
DECIMALS = 4
MIN_WORDS = 40
STOP_WORDS = """
    a an and are as at be but by can do does for from have how i if in is it its my no
    not of on or so that the their them then they this to was we what when which will
    with you your
"""


@dataclass(frozen=True)
class Chunk:
    """One passage: `content` is the text of its file from `start` to `end`."""

    id: str
    content: str
    metadata: Metadata


def front_matter(text: str) -> tuple[Metadata, int]:
    """Return the fields between the `---` lines, and where the body begins."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if match is None:
        return {}, 0
    fields = (line.partition(":") for line in match[1].splitlines())
    return {key.strip(): value.strip() for key, _, value in fields}, match.end()


def sections(text: str, begin: int) -> Iterator[tuple[str, int, int]]:
    """Yield (heading, start, end) of each part of the body below a heading."""
    heading, start = "", begin
    for match in re.finditer(r"^#+ (.*)\n", text[begin:], re.MULTILINE):
        yield heading, start, begin + match.start()
        heading, start = match[1], begin + match.end()
    yield heading, start, len(text)


def paragraphs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split text[start:end] at blank lines, joining what is below MIN_WORDS."""
    found: list[tuple[int, int]] = []
    for match in re.finditer(r"\S.*?(?=\n\s*\n|\s*\Z)", text[start:end], re.DOTALL):
        span = start + match.start(), start + match.end()
        if found and min(words(text, found[-1]), words(text, span)) < MIN_WORDS:
            span = found.pop()[0], span[1]
        found.append(span)
    return found


def words(text: str, span: tuple[int, int]) -> int:
    """Count the words of a span."""
    return len(text[slice(*span)].split())


def split(path: Path) -> Iterator[Chunk]:
    """Yield the chunks of a document; `{#name}` after a heading sets their group."""
    text = path.read_text(encoding="utf-8")
    fields, begin = front_matter(text)
    position = 0
    for heading, first, last in sections(text, begin):
        section, _, group = heading.rstrip("}").partition(" {#")
        for start, end in paragraphs(text, first, last):
            metadata: Metadata = {"source": path.stem, **fields, "section": section}
            metadata |= {"position": position, "start": start, "end": end}
            metadata |= {"group": group} if group else {}
            yield Chunk(f"{path.stem}#{position}", text[start:end], metadata)
            position += 1


def terms(text: str) -> Counter[str]:
    """Count the words of a text, without stop words and the commonest endings."""
    found = re.findall(r"[a-z]+|\d+", text.lower())
    stop = set(STOP_WORDS.split())
    kept = (word for word in found if word not in stop)
    return Counter(re.sub(r"(?<=\w{3})(ing|ed|es|e|s)$", "", word) for word in kept)


def log_counts(texts: list[Counter[str]], vocabulary: list[str]) -> Matrix:
    """Return log(1 + count), with a row for each text and a column for each term."""
    counts = [[text[term] for term in vocabulary] for text in texts]
    return np.log1p(np.array(counts, dtype=np.float64))


def unit(rows: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Matrix = rows / np.where(lengths > 0, lengths, 1.0)
    return scaled


def rank(query: str, chunks: list[Chunk]) -> list[tuple[float, Chunk, list[float]]]:
    """Return (score, chunk, embedding) of all chunks, by falling score, then by id."""
    texts = [terms(chunk.content) for chunk in chunks]
    vocabulary = sorted(set().union(*texts))
    counts = log_counts(texts, vocabulary)
    idf = 1 + np.log((1 + len(chunks)) / (1 + np.count_nonzero(counts, axis=0)))
    weights = unit(counts * idf)
    wanted = unit(log_counts([terms(query)], vocabulary) * idf)
    axes = np.linalg.svd(weights, full_matrices=False)[2][:DIMENSIONS]
    peaks = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    axes = axes * np.sign(peaks)[:, np.newaxis]  # the SVD leaves the signs open
    embeddings = unit(weights @ axes.T).round(DECIMALS) + 0.0  # no negative zeros
    cosines = (weights @ wanted[0] + embeddings @ unit(wanted @ axes.T)[0]) / 2
    scores = cosines.clip(0.0, 1.0).round(DECIMALS)
    rows = zip(scores.tolist(), chunks, embeddings.tolist(), strict=True)
    return sorted(rows, key=lambda row: (-row[0], row[1].id))


def main() -> None:
    """Read the command line and write the ranked chunks."""
    parser = argparse.ArgumentParser(description="Rank the documents for a query.")
    parser.add_argument("--query", default=QUERY, help="default: %(default)s")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="a folder")
    options = parser.parse_args()
    files = sorted(options.documents.glob("*.md"))
    if not files:
        parser.error(f"no .md files in {options.documents}")
    chunks = [chunk for path in files for chunk in split(path)]
    for score, chunk, embedding in rank(options.query, chunks):
        row = {"id": chunk.id, "content": chunk.content, "score": score}
        row |= {"embedding": embedding, "metadata": chunk.metadata}
        sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
