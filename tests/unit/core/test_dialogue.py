import pickle

from emoscope.core.dialogue import Detection, Dialogue, Example


def test_examples_and_detections_can_be_sent_to_another_process() -> None:
    example = Example(Dialogue.of(["hi", "hello"]), turn=1)
    assert pickle.loads(pickle.dumps(example)) == example
    detection = Detection("sad", {"sad": 0.75, "others": 0.25})
    assert pickle.loads(pickle.dumps(detection)) == detection
