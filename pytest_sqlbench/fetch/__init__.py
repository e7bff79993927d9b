"""Getting published benchmarks: pinned archives, checked by what is in them. Needs the extra ``fetch``."""
