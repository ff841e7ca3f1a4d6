#!/usr/bin/env python3
"""Compares how drydock reads office, PDF and HTML files with other readers.

Needs openpyxl, python-docx, pypdf and lxml:

    VENV/bin/python sources.py --drydock BIN --scratch DIR [--update]

--update makes a workbook with openpyxl and a document with python-docx, and keeps
them with what the two read back in dataprep/format/testdata/interop, where a Go
test compares. The sample's own sources are compared here: every text of every
record must be what the other reader has at that place, or has at all (PDF, HTML).
It ends with 1 when anything differs.
"""
import argparse
import decimal
import html
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import zipfile

import docx
import lxml.html
import openpyxl
import pypdf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RAW = ROOT / "data" / "samples" / "colreg" / "raw"
GOLDEN = ROOT / "dataprep" / "format" / "testdata" / "interop"

SHEET = [
    ("题号", "题目", "A", "B", "C", "D", "答案"),
    ("001", "船舶在航是指船舶______。", "锚泊", "系岸", "搁浅", "不在锚泊、系岸或搁浅", "D"),
    (2, "1 n mile = ______ m", 1852, 1852.5, -40, 0, "A"),
    (3, "两行的\n题干", "含\"引号\"", "含,逗号", "含\t制表符", "<b>&amp;</b>", "B"),
    (4, "  前后空格  ", "　全角　", True, False, None, "C"),
    (5, "\U0001F6A2 船与 \U00020BB7", "0.10", "1e3", "=1+1", "'甲", "A"),
    (None, None, None, None, None, None, None),
    (6, "长" * 300, 0.1, 1e-7, 123456789012, 1e21, "A"),
]


def make_workbook(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "题 库 1"
    for i, row in enumerate(SHEET, 1):
        for j, value in enumerate(row, 1):
            cell = sheet.cell(i, j, value)
            if isinstance(value, str):
                cell.data_type = "s"  # "=1+1" is a text here
    other = book.create_sheet("Second")
    other.merge_cells("A1:C1")
    other["A1"] = "merged"
    other["B3"] = "alone"
    book.save(path)


def shown(value):
    """A cell's value as text; numbers in full, without an exponent."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return format(decimal.Decimal(repr(value)), "f")
    return str(value)


def read_workbook(path):
    book = openpyxl.load_workbook(path, data_only=True)
    out = []
    for sheet in book:
        for i, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [shown(v) for v in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                out.append({"sheet": sheet.title, "row": i, "cells": cells})
    return out


def make_document(path):
    d = docx.Document()
    d.add_heading("第一章 总则", 1)
    d.add_heading("Scope", 2)
    p = d.add_paragraph("本规则适用于")
    p.add_run("公海").bold = True
    p.add_run("以及与公海相连的水域。")
    d.add_paragraph("Tab\there, break\nthere, \U0001F6A2 and <b>&amp;</b>.")
    d.add_paragraph("")
    d.add_paragraph("  spaces  ")
    d.add_paragraph("引用", style="Quote")
    d.add_heading("附录", 3)
    table = d.add_table(2, 3)
    for r, row in enumerate((("灯", "颜色", "弧"), ("舷灯", "红/绿", "112.5°"))):
        for c, text in enumerate(row):
            table.cell(r, c).text = text
    d.add_paragraph("末段")
    d.save(path)


def settle(path):
    """Gives the parts of a file one date, and no other, so that it can be made again."""
    with zipfile.ZipFile(path) as z:
        parts = [(n, z.read(n)) for n in z.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts:
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-01-02T00:00:00Z", data)
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 2, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def read_document(path):
    out = []
    for block in docx.Document(path).iter_inner_content():
        if isinstance(block, docx.table.Table):
            out += [{"cells": [c.text for c in row.cells]} for row in block.rows]
            continue
        m = re.fullmatch(r"Heading (\d)", block.style.name if block.style else "")
        out += [{"text": line, "level": int(m[1]) if m else 0} for line in block.text.split("\n")]
    return out


def records(a, name, shape):
    out = a.scratch / f"{name}.jsonl"
    subprocess.run([a.drydock, "prep", str(RAW / name), "-q", "--to", shape, "-o", str(out)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [json.loads(l) for l in out.read_text(encoding="utf-8").split("\n") if l]


def bare(text):
    return re.sub(r"\s+", "", text)


class Verdicts:
    def __init__(self):
        self.bad = 0

    def none(self, what, wrong):
        self.bad += bool(wrong)
        print(f"  {'DIFFERS' if wrong else 'same   '}  {what}" + (f": {len(wrong)}, first {wrong[0]!r:.600}" if wrong else ""))


def workbook(v, a):
    rows = records(a, "bank.xlsx", "question")
    cells = {f"sheet:{r['sheet']} r{r['row']}": r["cells"] for r in read_workbook(RAW / "bank.xlsx")}
    wrong = []
    for q in rows:
        number, _, stem, *options, answer = cells[q["origin"]["locator"]]
        got = (q["id"], q["stem"], [o["text"] for o in q["options"]], "".join(q["answer"]))
        if got != (number, stem, [o for o in options if o], answer):
            wrong.append((got, cells[q["origin"]["locator"]]))
    v.none(f"bank.xlsx: {len(rows)} questions, openpyxl at the same rows", wrong)
    v.none("bank.xlsx: rows that are no question", [k for k in list(cells)[1:] if k not in {q["origin"]["locator"] for q in rows}])


def document(v, a):
    paragraphs = [p.get("text", "") for p in read_document(RAW / "rules.docx")]
    rows = records(a, "rules.docx", "passage")
    v.none(f"rules.docx: {len(rows)} passages, python-docx", [r["text"] for r in rows if not all(t in paragraphs for t in r["text"].split("\n"))])
    kept = {t for r in rows for t in r["text"].split("\n") + r["heading"]}
    v.none("rules.docx: paragraphs in no passage", [p for p in paragraphs if p and p not in kept])


def page(v, a):
    # the header and the page's number stand between the lines of an item
    text = bare("".join(re.sub(r"^避碰规则题库（示例）\n第 \d 页\n", "", p.extract_text()) for p in pypdf.PdfReader(RAW / "bank.pdf").pages))
    rows = records(a, "bank.pdf", "question")
    v.none(f"bank.pdf: {len(rows)} questions, pypdf", [t for q in rows for t in [q["stem"], *(o["text"] for o in q["options"])] if bare(t) not in text])
    tree = lxml.html.fromstring((RAW / "rules.html").read_bytes())
    text = [bare(e.text_content()) for e in tree.iter("p", "li")]
    rows = records(a, "rules.html", "passage")
    v.none(f"rules.html: {len(rows)} passages, lxml", [r["text"] for r in rows if bare(html.unescape(r["text"])) not in "".join(text)])
    text_of = bare("".join(r["text"] for r in rows))
    main = [bare(e.text_content()) for m in tree.iter("main") for e in m.iter("p", "li")]
    v.none("rules.html: paragraphs of the main part in no passage", [t for t in main if t not in text_of])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--update", action="store_true", help="make the golden files again")
    a = ap.parse_args()
    a.drydock = str(pathlib.Path(a.drydock).absolute())
    a.scratch.mkdir(parents=True, exist_ok=True)
    print(*(f"{n} {importlib.metadata.version(n)}" for n in ("openpyxl", "python-docx", "pypdf", "lxml")))
    if a.update:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        make_workbook(GOLDEN / "book.xlsx")
        make_document(GOLDEN / "text.docx")
        for name, rows in (("book.xlsx", read_workbook(GOLDEN / "book.xlsx")), ("text.docx", read_document(GOLDEN / "text.docx"))):
            settle(GOLDEN / name)
            (GOLDEN / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    v = Verdicts()
    workbook(v, a)
    document(v, a)
    page(v, a)
    print("everything is the same" if not v.bad else f"{v.bad} differences")
    return 1 if v.bad else 0


if __name__ == "__main__":
    sys.exit(main())
