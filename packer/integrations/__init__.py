"""The packer inside what people already use.  One module each, one extra each, imported when used.

    langchain.py     PackDocuments (a document compressor and a Runnable), ScoredRetriever
    llama_index.py   PackNodes (a node postprocessor)
    haystack.py      DocumentPacker (a component)
    chroma.py  qdrant.py  lancedb.py  faiss.py  pgvector.py
                     a store's native result -> chunks
    scores.py        what a store calls a score -> higher is better
    natives.py       packed chunks -> the framework's own objects, and the report beside them
    counters.py      token counters by name, for configurations that are written down
    vectors.py       what a caller's function embeds, awaited where the framework is async
    rows.py          the values of a store's row -> one chunk

`import packer` imports none of it.
"""
