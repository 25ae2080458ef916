"""What reads TensorBoard's event files reads ours.

    tensorboard_read.py EVENTS_TOOL       status 77: neither tensorboard nor protobuf here, skipped

EVENTS_TOOL writes a file and prints each point. TensorBoard's EventAccumulator must give back the same
points in the same order; where there is none, Google's protobuf, with the messages as TensorFlow declares
them, and CRC-32C by its definition.
"""
import collections
import glob
import struct
import subprocess
import sys
import tempfile


def by_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0})
    accumulator.Reload()
    return {tag: [(p.step, p.value) for p in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}


def event_class():
    """Event of tensorflow/core/util/event.proto, with the parts of summary.proto that a scalar needs."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = {"double": 1, "float": 2, "int64": 3, "string": 9, "message": 11}
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tensorflow", syntax="proto3")
    for name, fields in {
        "Value": [("tag", 1, "string", 1), ("simple_value", 2, "float", 1)],
        "Summary": [("value", 1, ".tensorflow.Value", 3)],
        "Event": [("wall_time", 1, "double", 1), ("step", 2, "int64", 1), ("file_version", 3, "string", 1),
                  ("summary", 5, ".tensorflow.Summary", 1)],
    }.items():
        message = file.message_type.add(name=name)
        for field, number, kind, label in fields:
            row = message.field.add(name=field, number=number, label=label, type=kinds.get(kind, kinds["message"]))
            if kind not in kinds:
                row.type_name = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    event = pool.FindMessageTypeByName("tensorflow.Event")
    get = getattr(message_factory, "GetMessageClass", None)  # from protobuf 4.22
    return get(event) if get else message_factory.MessageFactory(pool).GetPrototype(event)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        while header := file.read(8):
            (length,) = struct.unpack("<Q", header)
            assert struct.unpack("<I", file.read(4)) == (masked_crc(header),), "the length's checksum"
            data = file.read(length)
            assert len(data) == length and struct.unpack("<I", file.read(4)) == (masked_crc(data),), "a checksum"
            yield data


def by_protobuf(folder):
    event, points = event_class(), collections.defaultdict(list)
    (path,) = glob.glob(folder + "/events.out.tfevents.*")
    first, *rest = [event.FromString(data) for data in records(path)]
    assert first.file_version == "brain.Event:2", first
    for e in rest:
        assert e.wall_time > 1.5e9 and e.SerializeToString(), e
        for v in e.summary.value:
            points[v.tag].append((e.step, v.simple_value))
    return points


with tempfile.TemporaryDirectory() as folder:
    printed = subprocess.run([sys.argv[1], folder], check=True, capture_output=True, text=True)
    for read in (by_tensorboard, by_protobuf):
        try:
            found = read(folder)
            break
        except ImportError as lacking:
            missing = lacking
    else:
        print(f"skipped: {missing}")
        sys.exit(77)

expected = collections.defaultdict(list)
for line in printed.stdout.splitlines():
    tag, step, value = line.split()
    expected[tag].append((int(step), float(value)))

assert sorted(found) == sorted(expected), sorted(found)
for tag, points in expected.items():
    assert len(found[tag]) == len(points), (tag, len(found[tag]), len(points))
    for ours, theirs in zip(points, found[tag]):
        assert ours[0] == theirs[0] and abs(ours[1] - theirs[1]) <= 1e-8 * abs(ours[1]), (tag, ours, theirs)
print(f"{sum(map(len, expected.values()))} points of {len(expected)} curves read back {read.__name__}")
