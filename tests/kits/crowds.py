"""Random crowds: up to five workers judge up to eight tasks, each at most once."""

from hypothesis import strategies as st

from emoscope.core.judgement import Judgement

crowds = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 4), st.sampled_from("xyz")),
    min_size=2,
    max_size=40,
    unique_by=lambda row: row[:2],
).map(lambda rows: [Judgement(f"t{task}", f"w{worker}", label) for task, worker, label in rows])
