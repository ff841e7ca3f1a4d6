#!/usr/bin/env python3
"""Compares how drydock reads Parquet and Arrow files with pyarrow.

Needs pyarrow:

    VENV/bin/python parquet.py [--real DIR] [--update]

--update makes types.parquet, types.arrow and types.arrows with pyarrow and keeps
what pyarrow reads back as types.jsonl in dataprep/format/testdata/interop, where
Go tests compare. DIR is a copy of apache/parquet-testing: of every file there,
real-parquet.json gets the number of rows and the SHA-256 of the rows as JSON
lines, or the word error. Without --update nothing is written, and it ends with 1
when a kept file differs.
"""
import argparse
import base64
import datetime
import decimal
import hashlib
import json
import math
import pathlib
import struct
import sys
import uuid

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "dataprep" / "format" / "testdata" / "interop"


def short_float(x, kind):
    """The shortest digits that read back at the size of the column."""
    if math.isnan(x) or math.isinf(x):
        return "null"
    if kind != pa.float64():
        for digits in range(1, 10):
            s = float(f"%.{digits}g" % x)
            if struct.pack("f", s) == struct.pack("f", x):
                return repr(s)
    return repr(x)


def fraction(nanos, unit):
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    return "." + ("%09d" % nanos)[:digits] if nanos and digits else ""


def clock(nanos, unit):
    seconds, rest = divmod(nanos, 10**9)
    seconds %= 86400
    return "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60) + fraction(rest, unit)


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def text(scalar, kind):
    """A value as the JSON drydock writes."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return "null" if not scalar.is_valid else json.dumps(str(scalar.as_py()))
        return text(scalar.value, kind.storage_type) if scalar.is_valid else "null"
    if t.is_dictionary(kind):
        return text(scalar.value, kind.value_type) if scalar.is_valid else "null"
    if not scalar.is_valid:
        return "null"
    if t.is_struct(kind):
        return "{" + ",".join(quote(f.name) + ":" + text(scalar[i], f.type) for i, f in enumerate(kind)) + "}"
    if t.is_map(kind):
        out = []
        for pair in scalar.values or []:
            key = text(pair[0], kind.key_type)
            out.append((key if key.startswith('"') else quote(key)) + ":" + text(pair[1], kind.item_type))
        return "{" + ",".join(out) + "}"
    if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
        return "[" + ",".join(text(v, kind.value_type) for v in scalar.values) + "]"
    if t.is_timestamp(kind):
        seconds, rest = divmod(scalar.value, PER_SECOND[kind.unit])
        day, seconds = divmod(seconds, 86400)
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
        nanos = rest * 10**9 // PER_SECOND[kind.unit]
        return quote(f"{date}T{clock(seconds * 10**9, 's')}{fraction(nanos, kind.unit)}{'Z' if kind.tz else ''}")
    if t.is_time(kind):
        return quote(clock(scalar.value * 10**9 // PER_SECOND[kind.unit], kind.unit))
    v = scalar.as_py()
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        return short_float(v, kind)
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, datetime.date):
        return quote(v.isoformat())
    if isinstance(v, uuid.UUID):
        return quote(str(v))
    if isinstance(v, bytes):
        try:
            s = v.decode("utf-8")
            if not any(c < " " and c not in "\t\n\r" for c in s):
                return quote(s)
        except UnicodeDecodeError:
            pass
        return quote(base64.b64encode(v).decode())
    return quote(str(v))


def quote(s):
    return json.dumps(s, ensure_ascii=False)


def lines(table):
    out = []
    for i in range(table.num_rows):
        out.append("{" + ",".join(
            quote(f.name) + ":" + text(table.column(j)[i], f.type) for j, f in enumerate(table.schema)) + "}")
    return "".join(line + "\n" for line in out)


def types():
    """One column for each type a training set may hold, and some it may not."""
    utc = datetime.timezone.utc
    when = [datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), None, datetime.datetime(1969, 12, 31, 0, 0, 1)]
    messages = [
        [{"role": "user", "content": "船舶在航是指？"}, {"role": "assistant", "content": "[D]"}],
        [],
        None,
    ]
    chat = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    return pa.table({
        "text": pa.array(["一\"二\n", None, ""]),
        "large": pa.array(["a", "b", None], pa.large_string()),
        "bool": pa.array([True, False, None]),
        "i8": pa.array([-128, 127, None], pa.int8()),
        "u16": pa.array([0, 65535, None], pa.uint16()),
        "i64": pa.array([-(2**63), 2**63 - 1, None]),
        "u64": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "f32": pa.array([0.1, 1.0, float("nan")], pa.float32()),
        "f64": pa.array([0.1, 1e300, None]),
        "decimal": pa.array([decimal.Decimal("-0.050"), decimal.Decimal("12345678901234567.890"), None], pa.decimal128(20, 3)),
        "date": pa.array([datetime.date(2024, 2, 29), datetime.date(1901, 1, 1), None]),
        "ms": pa.array(when, pa.timestamp("ms")),
        "us": pa.array([w and w.replace(tzinfo=utc) for w in when], pa.timestamp("us", tz="UTC")),
        "time": pa.array([datetime.time(1, 2, 3, 4), None, datetime.time(23, 59)], pa.time64("us")),
        "binary": pa.array([b"\x00\xff", b"text", None]),
        "label": pa.array(["x", "x", None]).dictionary_encode(),
        "messages": pa.array(messages, chat),
        "nested": pa.array([[[1, None], []], None, [None, [3]]], pa.list_(pa.list_(pa.int32()))),
        "map": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "struct": pa.array([{"a": 1, "b": {"c": "d"}}, None, {"a": None, "b": None}],
                           pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])),
        "null": pa.nulls(3),
    })


def write(folder, table):
    pa.parquet.write_table(table, folder / "types.parquet", compression="zstd", row_group_size=2)
    with pa.ipc.new_file(str(folder / "types.arrow"), table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as w:
        w.write_table(table, max_chunksize=2)
    with pa.ipc.new_stream(str(folder / "types.arrows"), table.schema) as w:
        w.write_table(table, max_chunksize=2)
    (folder / "types.jsonl").write_text(lines(pa.parquet.read_table(folder / "types.parquet")))


def real(folder):
    out = {}
    for path in sorted(folder.rglob("*.parquet*")):
        try:
            table = pa.parquet.ParquetFile(path).read()
            rows = lines(table)
            out[path.relative_to(folder).as_posix()] = {
                "rows": table.num_rows, "sha256": hashlib.sha256(rows.encode()).hexdigest()}
        except (OSError, pa.ArrowException, ValueError) as e:
            print(path.name, "-", str(e).split("\n")[0][:100], file=sys.stderr)
            out[path.relative_to(folder).as_posix()] = {"error": True}
    return {"pyarrow": pa.__version__, "files": out}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--real", type=pathlib.Path)
    p.add_argument("--update", action="store_true")
    o = p.parse_args()
    differ = False
    if o.update:
        write(GOLDEN, types())
    want = (GOLDEN / "types.jsonl").read_text()
    for got in (
        pa.parquet.read_table(GOLDEN / "types.parquet"),
        pa.ipc.open_file(str(GOLDEN / "types.arrow")).read_all(),
        pa.ipc.open_stream(str(GOLDEN / "types.arrows")).read_all(),
    ):
        differ |= lines(got) != want
    if o.real:
        found = json.dumps(real(o.real), indent=1) + "\n"
        kept = GOLDEN / "real-parquet.json"
        if o.update:
            kept.write_text(found)
        differ |= kept.read_text() != found
    print("differs" if differ else "equal")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
