"""TensorBoard itself reads our event files.

    tensorboard_read.py EVENTS_TOOL       status 77: no tensorboard here, skipped

EVENTS_TOOL writes a file and prints each point; the EventAccumulator must give back the same points
in the same order.
"""
import collections
import subprocess
import sys
import tempfile

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("no tensorboard for this python: skipped")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    printed = subprocess.run([sys.argv[1], folder], check=True, capture_output=True, text=True)
    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0})
    accumulator.Reload()

expected = collections.defaultdict(list)
for line in printed.stdout.splitlines():
    tag, step, value = line.split()
    expected[tag].append((int(step), float(value)))

assert sorted(accumulator.Tags()["scalars"]) == sorted(expected), accumulator.Tags()
for tag, points in expected.items():
    got = [(p.step, p.value) for p in accumulator.Scalars(tag)]
    assert len(got) == len(points), (tag, len(got), len(points))
    for ours, theirs in zip(points, got):
        assert ours[0] == theirs[0] and abs(ours[1] - theirs[1]) <= 1e-8 * abs(ours[1]), (tag, ours, theirs)
print(f"{sum(map(len, expected.values()))} points of {len(expected)} curves read back")
