package question_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/golden"
)

// csvDocument reads a CSV file into table rows.
func csvDocument(t testing.TB, path string) (*drydock.Document, [][]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rowsDocument(rows), rows
}

func rowsDocument(rows [][]string) *drydock.Document {
	var blocks []drydock.Block
	for i, row := range rows {
		blocks = append(blocks, drydock.Block{Cells: row, At: drydock.Locator{Row: i + 1}})
	}
	return document(blocks)
}

func jsonDocument(t testing.TB, b []byte) *drydock.Document {
	t.Helper()
	var rows []json.RawMessage
	if b = bytes.TrimSpace(b); b[0] == '[' {
		if err := json.Unmarshal(b, &rows); err != nil {
			t.Fatal(err)
		}
	} else {
		for l := range bytes.SplitSeq(b, []byte("\n")) {
			rows = append(rows, l)
		}
	}
	var blocks []drydock.Block
	for i, r := range rows {
		blocks = append(blocks, drydock.Block{Raw: r, At: drydock.Locator{Row: i + 1}})
	}
	return document(blocks)
}

// part reads one file out of a zip.
func part(t testing.TB, path, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// docxDocument reads the paragraphs' texts of a DOCX whose numbers are typed.
func docxDocument(t testing.TB, path string) *drydock.Document {
	t.Helper()
	var blocks []drydock.Block
	var cur strings.Builder
	in := false
	d := xml.NewDecoder(bytes.NewReader(part(t, path, "word/document.xml")))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return document(blocks)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			in = x.Name.Local == "t"
		case xml.CharData:
			if in {
				cur.Write(x)
			}
		case xml.EndElement:
			in = false
			if x.Name.Local == "p" {
				blocks = append(blocks, drydock.Block{Text: cur.String(), At: drydock.Locator{Para: len(blocks) + 1}})
				cur.Reset()
			}
		}
	}
}

func TestUSCG(t *testing.T) {
	t.Parallel()
	doc, rows := csvDocument(t, golden.RealData(t, "uscg-rules-bank", "nav_rules_first640_no_explanations.csv"))
	got := parse(t, doc)
	if len(got.records) != 640 || len(got.drops) != 0 {
		t.Fatalf("%d questions, drops %v", len(got.records), got.reasons())
	}
	for i, r := range got.records {
		q, row := r.Question, rows[i+1]
		if q.Kind != drydock.Single || len(q.Options) != 4 || q.Answer[0] != row[6] || r.RowID != row[0] || r.Lang != "en" {
			t.Fatalf("row %d: %+v id %q lang %q", i+2, q, r.RowID, r.Lang)
		}
		for k, o := range q.Options {
			if o.Text != strings.TrimSpace(row[2+k]) {
				t.Errorf("row %d option %s: %q, want %q", i+2, o.Label, o.Text, row[2+k])
			}
		}
		if q.Subject[0] != row[8] || q.Subject[1] != row[9] {
			t.Errorf("row %d subject %v", i+2, q.Subject)
		}
	}
}

func TestHamRadio(t *testing.T) {
	t.Parallel()
	doc, rows := csvDocument(t, golden.RealData(t, "ham-radio-zh", "class_a.csv"))
	got := parse(t, doc)
	kinds := map[drydock.QuestionKind]int{}
	for i, r := range got.records {
		kinds[r.Question.Kind]++
		if strings.Join(r.Question.Answer, "") != rows[i+1][4] || r.RowID != rows[i+1][2] {
			t.Errorf("row %d: answer %v id %q", i+2, r.Question.Answer, r.RowID)
		}
	}
	if kinds[drydock.Single] != 547 || kinds[drydock.Multiple] != 136 || len(got.drops) != 0 {
		t.Errorf("kinds %v, drops %v", kinds, got.reasons())
	}
}

func TestNoOptionsWorkbook(t *testing.T) {
	t.Parallel()
	path := golden.RealData(t, "xlsx-bank-no-options-zh", "题库.xlsx")
	var shared struct {
		SI []struct {
			T string   `xml:"t"`
			R []string `xml:"r>t"`
		} `xml:"si"`
	}
	if err := xml.Unmarshal(part(t, path, "xl/sharedStrings.xml"), &shared); err != nil {
		t.Fatal(err)
	}
	var sheet struct {
		Rows []struct {
			C []struct {
				R string `xml:"r,attr"`
				T string `xml:"t,attr"`
				V string `xml:"v"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if err := xml.Unmarshal(part(t, path, "xl/worksheets/sheet1.xml"), &sheet); err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, r := range sheet.Rows {
		var cells []string
		for _, c := range r.C {
			v := c.V
			if c.T == "s" {
				n, _ := strconv.Atoi(c.V)
				v = shared.SI[n].T + strings.Join(shared.SI[n].R, "")
			}
			cells = append(cells, v)
		}
		rows = append(rows, cells)
	}
	got := parse(t, rowsDocument(rows))
	if len(got.records) != 0 || got.reasons()["no_options"] != 8500 || len(got.drops) != 8500 {
		t.Errorf("%d questions of %d rows, drops %v", len(got.records), len(rows), got.reasons())
	}
}

func TestDocxBank(t *testing.T) {
	t.Parallel()
	type row struct {
		Subject, Answer string
		Option          map[string]string
	}
	for _, c := range []struct {
		name string
		n    int
	}{{"单选题", 441}, {"判断题", 423}} {
		b, err := os.ReadFile(golden.RealData(t, "docx-bank-zh", c.name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var want []row
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		got := parse(t, docxDocument(t, golden.RealData(t, "docx-bank-zh", c.name+".docx")))
		if len(got.records) != c.n || len(want) != c.n {
			t.Errorf("%s: %d questions, want %d, drops %v", c.name, len(got.records), c.n, got.reasons())
			for _, d := range got.drops {
				t.Logf("%s | %s", d, d.Record.Passage.Text)
			}
		}
		wrong := 0
		for i, r := range got.records {
			if i >= len(want) {
				break
			}
			q, w := r.Question, want[i]
			answer := map[string]string{"正确": "true", "错误": "false"}[w.Answer]
			if answer == "" {
				answer = w.Answer
			}
			ok := strings.HasSuffix(letters(w.Subject), letters(q.Stem)) && len(q.Answer) == 1 && q.Answer[0] == answer && len(q.Options) == len(w.Option)
			for _, o := range q.Options {
				ok = ok && letters(o.Label+o.Text) == letters(w.Option[o.Label])
			}
			if !ok {
				if wrong++; wrong < 6 {
					t.Errorf("%s %s: got %+v\nwant %+v", c.name, r.Origin.At, q, w)
				}
			}
		}
		t.Logf("%s: %d of %d as in the JSON", c.name, len(got.records)-wrong, c.n)
		// the JSON beside it is a bank, too
		again := parse(t, jsonDocument(t, b))
		for i, r := range again.records {
			if !strings.HasSuffix(letters(want[i].Subject), letters(r.Question.Stem)) || strings.HasPrefix(r.Question.Stem, strconv.Itoa(i+1)+"、") || len(r.Question.Answer) != 1 {
				t.Errorf("%s.json %d: %+v", c.name, i+1, r.Question)
			}
		}
		if len(again.records) != c.n {
			t.Errorf("%s.json: %d questions, drops %v", c.name, len(again.records), again.reasons())
		}
	}
}

func TestNavreas(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"scene_understanding.jsonl", "spatial_relationship_and_estimation_of_motion.jsonl"} {
		b, err := os.ReadFile(golden.RealData(t, "navreas", name))
		if err != nil {
			t.Fatal(err)
		}
		got := parse(t, jsonDocument(t, b))
		t.Logf("%s: %d questions, drops %v", name, len(got.records), got.reasons())
		for _, d := range got.drops {
			t.Logf("%s %.3000s", d, d.Record.Passage.Text[max(0, len(d.Record.Passage.Text)-500):])
		}
		if len(got.records)+len(got.drops) != 40 {
			t.Errorf("%s: %d + %d rows", name, len(got.records), len(got.drops))
		}
	}
}

func TestEvalscopeCustom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		n    int
		kind drydock.QuestionKind
	}{
		{"example_dev.csv", 2, drydock.Single},
		{"example_val.csv", 0, drydock.Single},
		{"example_dev.jsonl", 2, drydock.Single},
		{"example_val.jsonl", 0, drydock.Single},
		{"example_multi_dev.jsonl", 2, drydock.Multiple},
		{"example_multi_val.jsonl", 0, drydock.Multiple},
	} {
		path := golden.RealData(t, "evalscope-custom-mcq", "mcq", c.name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(bytes.TrimSpace(b), []byte("\n")) + 1
		doc := (*drydock.Document)(nil)
		if strings.HasSuffix(c.name, ".csv") {
			doc, _ = csvDocument(t, path)
			n--
		} else {
			doc = jsonDocument(t, b)
		}
		got := parse(t, doc)
		if len(got.records) != n || len(got.drops) != 0 {
			t.Errorf("%s: %d of %d, drops %v", c.name, len(got.records), n, got.reasons())
		}
		for _, r := range got.records {
			if r.Question.Kind != c.kind || len(r.Question.Answer) == 0 || len(r.Question.Options) != 4 {
				t.Errorf("%s: %+v", c.name, r.Question)
			}
		}
	}
}
