#!/usr/bin/env python3
"""Makes data/samples/colreg from the texts beside this script.

Needs reportlab (the PDF), openpyxl (the workbook) and opencc (the traditional
characters of one planted leak). The files are committed; run it again only when
a text changes. The same texts give the same files.
"""
import hashlib
import json
import pathlib
import re
import unicodedata
import zipfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).parent
OUT = HERE.parent.parent / "data" / "samples" / "colreg"
ROMAN = {"①": "I", "②": "II", "③": "III", "④": "IV"}
FIXED = (2026, 1, 2, 0, 0, 0)


def lines(name):
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def order(stem, n, turn=0):
    """A fixed order of n options that depends on the stem alone."""
    key = lambda i: hashlib.sha256(f"{stem}|{turn}|{i}".encode()).digest()
    return sorted(range(n), key=key)


def items(line):
    *head, stem, options, _ = line.split("|")
    return head, stem, options.split(";")


def benchmark():
    rows = []
    for line in lines("bench.txt"):
        stem, options = line.split("|")
        options = options.split(";")
        at = order(stem, len(options))
        row = {"index": len(rows), "question": stem, "answer": "ABCD"[at.index(0)]}
        for letter, i in zip("ABCD", at):
            row[letter] = options[i]
        if len(options) == 3:
            row["D"] = None
        rows.append(row)
    return rows


def disguise(row, how):
    """A benchmark item as a leak would look: stem, options, letter."""
    options = [row[c] for c in "ABCD" if row[c]]
    right = "ABCD".index(row["answer"])
    stem = row["question"]
    if how == "shuffled":
        at = order(stem, len(options), turn=1)
        if at == list(range(len(options))):
            at = at[1:] + at[:1]
        return stem, [options[i] for i in at], "ABCD"[at.index(right)]
    if how == "traditional":
        import opencc
        cc = opencc.OpenCC("s2t")
        return cc.convert(stem), [cc.convert(o) for o in options], row["answer"]
    if how == "fullwidth":
        wide = lambda s: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and c != "_" else c for c in s)
        return wide(stem), [wide(o) for o in options], row["answer"]
    if how == "roman":
        def roman(s):
            return re.sub("[①②③④]", lambda m: ROMAN[m[0]] + ". ", s)
        options = ["、".join(ROMAN[c] for c in o) for o in options]
        return roman(stem), options, row["answer"]
    if how == "wrapped":
        head, tail = stem[:17], stem[17:]
        return head + "\n" + tail[:19] + "\n" + tail[19:], options, row["answer"]
    raise ValueError(how)


def bank(rows):
    """file → chapter → list of (stem, options, letter)."""
    out = {}
    for line in lines("bank.txt"):
        (file, chapter), stem, options = items(line)
        at = order(stem, len(options))
        out.setdefault(file, {}).setdefault(chapter, []).append(
            (stem, [options[i] for i in at], "ABCD"[at.index(0)]))
    for line in lines("leaks.txt"):
        file, chapter, how, n = line.split("|")
        out[file].setdefault(chapter, []).append(disguise(rows[int(n)], how))
    # banks repeat themselves: three items of the PDF stand in other files, too
    chapters = out["pdf"]
    out["txt"]["二、遇险信号与免责"].append(chapters["第二章 驾驶和航行规则"][0])
    out["txt"]["三、船员日常业务"].append(chapters["第三章 号灯和号型"][3])
    out["xlsx"].setdefault("船舶货运与结构", []).append(chapters["第一章 总则与定义"][7])
    # and have flaws: two options alike, and an item too short to teach anything
    out["txt"]["三、船员日常业务"].append(("船舶备车航行时，下列做法正确的是", ["主机处于备用状态", "主机处于备用状态", "关闭舵机", "停止瞭望"], "A"))
    out["txt"]["三、船员日常业务"].append(("左舷灯", ["红", "绿", "白"], "A"))
    return out


def write_txt(chapters):
    text = ["海员基础题库（示例）", ""]
    for chapter, questions in chapters.items():
        text += [chapter, ""]
        for n, (stem, options, letter) in enumerate(questions, 1):
            text.append(f"{n}、{stem}（  ）")
            text += [f"{c}．{o}" for c, o in zip("ABCD", options)]
            text += [f"答案：{letter}", ""]
    (OUT / "raw" / "bank.txt").write_bytes("\r\n".join(text).encode("gb18030"))


def write_pdf(chapters):
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    c = Canvas(str(OUT / "raw" / "bank.pdf"), pagesize=A4, invariant=1, pageCompression=1)
    c.setTitle("避碰规则题库（示例）")
    state = {"y": 0, "page": 0}

    def page():
        if state["page"]:
            c.showPage()
        state["page"] += 1
        c.setFont("STSong-Light", 9)
        c.drawString(72, 810, "避碰规则题库（示例）")
        c.drawCentredString(297, 30, f"第 {state['page']} 页")
        state["y"] = 780

    def put(text, size=11, x=72):
        if state["y"] < 60:
            page()
        c.setFont("STSong-Light", size)
        c.drawString(x, state["y"], text)
        state["y"] -= size * 1.6

    def wrap(text, width=40):
        for part in text.split("\n"):
            run, w = "", 0
            for ch in part:
                w += 2 if unicodedata.east_asian_width(ch) in "WFA" else 1
                if w > 2 * width:
                    yield run
                    run, w = "", 2
                run += ch
            yield run

    page()
    for chapter, questions in chapters.items():
        put(chapter, 15)
        for n, (stem, options, _) in enumerate(questions, 1):
            for row in wrap(f"{n}. {stem}（    ）"):
                put(row)
            if max(map(len, options)) <= 8:
                put("    ".join(f"{l}. {o}" for l, o in zip("ABCD", options)), x=90)
            else:
                for l, o in zip("ABCD", options):
                    for row in wrap(f"{l}. {o}", 38):
                        put(row, x=90)
        put("习题答案", 13)
        letters = [q[2] for q in questions]
        for i in range(0, len(letters), 10):
            row = letters[i:i + 10]
            put("  ".join(f"{i + j + 1}-{min(i + j + 5, len(letters))} {''.join(row[j:j + 5])}" for j in range(0, len(row), 5)))
        state["y"] -= 12
    c.save()


def write_xlsx(chapters):
    from openpyxl import Workbook
    wb = Workbook()
    ws = wb.active
    ws.title = "题库"
    ws.append(["题号", "章节", "题目", "选项A", "选项B", "选项C", "选项D", "答案"])
    n = 0
    for chapter, questions in chapters.items():
        for stem, options, letter in questions:
            n += 1
            ws.append([f"X{n:03d}", chapter, stem] + options + [None] * (4 - len(options)) + [letter])
    import datetime
    wb.properties.created = wb.properties.modified = datetime.datetime(*FIXED)
    wb.properties.creator = "drydock"
    path = OUT / "raw" / "bank.xlsx"
    wb.save(path)
    repack(path)


def repack(path):
    """Rewrites a zip with fixed times, so that the same content is the same file."""
    with zipfile.ZipFile(path) as z:
        parts = [(i.filename, z.read(i.filename)) for i in z.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts:
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2026-01-02T00:00:00Z", data)
            info = zipfile.ZipInfo(name, FIXED)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            z.writestr(info, data)


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(path, paragraphs):
    """paragraphs: (heading level or 0, text)."""
    body = []
    for level, text in paragraphs:
        style = f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else ""
        body.append(f'<w:p>{style}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>')
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/>'
        f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{36 - 4 * n}"/></w:rPr></w:style>'
        for n in (1, 2, 3))
    parts = {
        "[Content_Types].xml": '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>',
        "_rels/.rels": '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:styles {W}>{styles}</w:styles>',
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:document {W}><w:body>{"".join(body)}</w:body></w:document>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in parts.items():
            info = zipfile.ZipInfo(name, FIXED)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            z.writestr(info, text)


def rules():
    en, zh = (HERE / "rules.txt").read_text(encoding="utf-8").split("@zh\n")
    def parse(text):
        for line in text.splitlines():
            if line.startswith("== "):
                yield 2, line[3:]
            elif line.startswith("= "):
                yield 1, line[2:]
            elif line and not line.startswith("#"):
                yield 0, line
    return list(parse(en)), list(parse(zh))


def write_html(paragraphs):
    out = ["<!doctype html>", '<html lang="en">', '<head><meta charset="utf-8"><title>Preventing collisions: a retelling</title></head>', "<body>",
           "<nav><a href=\"/\">Home</a> <a href=\"/rules\">Rules</a></nav>", "<main>", "<h1>Preventing collisions: a retelling</h1>"]
    for level, text in paragraphs:
        tag = f"h{level + 1}" if level else "p"
        out.append(f"<{tag}>{escape(text)}</{tag}>")
    out += ["</main>", "<footer>Written for drydock. Public domain.</footer>", "</body>", "</html>", ""]
    (OUT / "raw" / "rules.html").write_text("\n".join(out), encoding="utf-8")


REPORT = [
    (1, "技术报告（示例）"),
    (2, "一、方法"),
    (0, "本示例用内置基线代替微调后的模型，以便在没有显卡的机器上走完整个流程。训练数据为单选题的对话格式，模板合同为 empty-think。"),
    (2, "二、数据来源"),
    (0, "题库与规则文本均为 drydock 项目自行编写，许可为 CC0-1.0。来源清单、处理步骤和每一行的出处见 train 文件夹。"),
    (2, "三、训练"),
    (0, "训练配置由 drydock train -n 生成：LoRA，基座模型 Qwen3-8B。示例中只生成配置，不启动训练。"),
    (2, "四、结果"),
    (0, "评测由 builtin:lookup 完成：准确率 23.33 %（60 题）。它是按字面检索训练题的基线，不是语言模型；95% 置信区间见数据卡。"),
    (2, "五、合规说明"),
    (0, "训练数据与评测集的污染检查先于训练完成，检出的五道变形题已全部剔除；未使用互联网检索，未写入固定答案。"),
]


def main():
    (OUT / "raw").mkdir(parents=True, exist_ok=True)
    (OUT / "bench").mkdir(exist_ok=True)
    rows = benchmark()
    (OUT / "bench" / "sample_bench.json").write_text(
        json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    banks = bank(rows)
    write_txt(banks["txt"])
    write_pdf(banks["pdf"])
    write_xlsx(banks["xlsx"])
    en, zh = rules()
    write_html(en)
    docx(OUT / "raw" / "rules.docx", zh)
    docx(OUT / "report.docx", REPORT)
    total = {f: sum(map(len, ch.values())) for f, ch in banks.items()}
    print(f"{sum(total.values())} questions {total}, {len(rows)} benchmark items")


if __name__ == "__main__":
    main()
