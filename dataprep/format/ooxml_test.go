package format_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	wordNS = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
		`xmlns:v="urn:schemas-microsoft-com:vml"`
	relsNS = `xmlns="http://schemas.openxmlformats.org/package/2006/relationships"`
	relURI = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// zipOf packs parts, in the order of their names.
func zipOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var names []string
	for n := range parts {
		names = append(names, n)
	}
	slices.Sort(names)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, n := range names {
		w, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[n])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// docxBytes makes a Word file of a body and further parts.
func docxBytes(t testing.TB, body string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels":         `<Relationships ` + relsNS + `><Relationship Id="rId1" Type="` + relURI + `officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml":   `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordNS + `><w:body>` + body + `</w:body></w:document>`,
	}
	for n, p := range more {
		if parts[n] = p; p == "" {
			delete(parts, n)
		}
	}
	return zipOf(t, parts)
}

// fileOf writes bytes to a file of that name.
func fileOf(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown writes blocks for comparison: place, level and text or cells.
func shown(r formattest.Result) []string {
	var out []string
	for _, b := range r.Blocks {
		s := b.At.String() + "|"
		if b.Level > 0 {
			s += "h" + string(rune('0'+b.Level)) + "|"
		}
		if b.Cells != nil {
			s += "[" + strings.Join(b.Cells, "|") + "]"
		} else if b.Raw != nil {
			s += string(b.Raw)
		} else {
			s += b.Text
		}
		if b.Figure != "" {
			s += "{" + b.Figure + "}"
		}
		out = append(out, s)
	}
	return out
}

// marked lists the spans of blocks as kind, value, cell and text.
func marked(r formattest.Result) []string {
	kinds := map[drydock.SpanKind]string{
		drydock.Bold: "bold", drydock.Color: "color", drydock.Subscript: "sub", drydock.Superscript: "sup",
		drydock.Underline: "under", drydock.Image: "image",
	}
	var out []string
	for _, b := range r.Blocks {
		for _, s := range b.Spans {
			text := b.Text
			if b.Cells != nil {
				text = fmt.Sprintf("%d:%s", s.Cell, b.Cells[s.Cell][s.Start:s.End])
			} else {
				text = text[s.Start:s.End]
			}
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", kinds[s.Kind], s.Value, text)))
		}
	}
	return out
}

func codes(r formattest.Result) []string {
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Code)
	}
	slices.Sort(out)
	return out
}

// readAll reads a file that must give no error and no drop.
func readAll(t *testing.T, path string) formattest.Result {
	t.Helper()
	r, _ := formattest.Read(t.Context(), path, format.Options{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, d := range r.Drops {
		t.Error(d)
	}
	return r
}

func compare(t *testing.T, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// failsWith reads a file that must end in an error of exit code 3 that says
// something in both languages and has a hint.
func failsWith(t *testing.T, path string, o format.Options, want string) {
	t.Helper()
	r, _ := formattest.Read(t.Context(), path, o)
	if r.Err == nil || !strings.Contains(r.Err.Error(), want) || fail.Code(r.Err) != 3 {
		t.Fatalf("error %v, want one with %q", r.Err, want)
	}
	e := fail.All(r.Err)[0]
	if len(e.Hints(msg.En)) == 0 || e.In(msg.En) == e.In(msg.Zh) {
		t.Errorf("%v: hint %v, Chinese %q", e, e.Hints(msg.En), e.In(msg.Zh))
	}
	if !strings.Contains(e.Error(), filepath.Base(path)) {
		t.Errorf("%v does not name the file", e)
	}
}

func para(props, text string) string {
	return `<w:p><w:pPr>` + props + `</w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

func num(id, level string) string {
	return `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + id + `"/></w:numPr>`
}

// TestArchiveOfOfficeFiles holds that what an archive contains does not make it
// an Office file, however it is packed.
func TestArchiveOfOfficeFiles(t *testing.T) {
	t.Parallel()
	inner := docxBytes(t, para("", "海图"), nil)
	stored := func(raw bool, names ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, n := range names {
			h := &zip.FileHeader{Name: n, Method: zip.Store}
			create := z.CreateHeader
			if raw { // the size stands in front of the entry
				h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE(inner), uint64(len(inner)), uint64(len(inner))
				create = z.CreateRaw
			}
			w, err := create(h)
			if err == nil {
				_, err = w.Write(inner)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, b := range map[string][]byte{
		"stored, size behind":   stored(false, "report.docx", "train.jsonl"),
		"stored, size in front": stored(true, "report.docx", "train.jsonl"),
		"packed":                zipOf(t, map[string]string{"a/report.docx": string(inner)}),
		"a folder called word":  stored(false, "word/report.docx"),
		"below a folder":        zipOf(t, map[string]string{"x/word/document.xml": "<a/>", "x/[Content_Types].xml": "<a/>"}),
	} {
		f, _, err := format.Detect(b, "team_submission.zip")
		if err == nil || !strings.Contains(err.Error(), "ZIP archive") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	for name, b := range map[string][]byte{
		"content types last": zipOf(t, map[string]string{"_rels/.rels": "<a/>", "word/document.xml": "<a/>", "zz": ""}),
		"an embedded sheet":  zipOf(t, map[string]string{"[Content_Types].xml": "<a/>", "word/document.xml": "<a/>", "word/embeddings/xl/workbook.xml": "<a/>"}),
	} {
		if f, _, err := format.Detect(b, "misnamed.zip"); err != nil || f.Name != "docx" {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}
