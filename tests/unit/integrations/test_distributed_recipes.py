"""The recipes for distributed users in docs/guide/integrations.md, each where its package is installed."""

import pytest

import emoscope

pd = pytest.importorskip("pandas")
ROWS = {"id": [1, 2, 3], "text": ["I hate you, shut up", "what time is it", "so sad and lonely"]}


def labelled(frame: "pd.DataFrame") -> "pd.DataFrame":
    return emoscope.load("nano").to_frame(frame)


@pytest.fixture(scope="module")
def expected() -> list[str]:
    return [str(emoscope.load("nano").detect(text).label) for text in ROWS["text"]]


def test_dask(expected: list[str]) -> None:
    dask = pytest.importorskip("dask.dataframe", reason="the recipe is Dask's")
    frame = dask.from_pandas(pd.DataFrame(ROWS), npartitions=2)
    meta = labelled(pd.DataFrame(ROWS).head(0))
    found = frame.map_partitions(labelled, meta=meta).compute(scheduler="synchronous")
    assert found["label"].tolist() == expected


def test_duckdb(expected: list[str]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the recipe is DuckDB's")
    detector, connection = emoscope.load("nano"), duckdb.connect()
    connection.create_function("emotion", lambda text: detector.detect(text).label, ["VARCHAR"], "VARCHAR")
    connection.register("chats", pd.DataFrame(ROWS))
    assert [label for (label,) in connection.sql("select emotion(text) from chats order by id").fetchall()] == expected
    table = pytest.importorskip("pyarrow").Table.from_pandas(pd.DataFrame(ROWS))
    connection.register("answered", detector.to_frame(table))
    assert [label for (label,) in connection.sql("select label from answered order by id").fetchall()] == expected


def test_pickled_to_a_worker(expected: list[str]) -> None:
    """What Ray and Dask do with a detector that a function holds."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="how they send functions")
    detector = emoscope.load("nano")
    sent = cloudpickle.loads(cloudpickle.dumps(detector.to_frame))
    assert sent(pd.DataFrame(ROWS))["label"].tolist() == expected
