package cli_test

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdCode runs a program that must end with exactly this exit code:
//
//	code 2 drydock nosuch
//
// stdout and stderr may be examined after it.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdSameBytes checks that two files are equal without printing them.
func cmdSameBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: samebytes A B")
	}
	if same := ts.ReadFile(args[0]) == ts.ReadFile(args[1]); same == neg {
		ts.Fatalf("%s and %s: same bytes %v", args[0], args[1], same)
	}
}

// cmdDocx makes a Word file of a text, a paragraph a line:
//
//	docx OUT TEXT
func cmdDocx(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: docx OUT TEXT")
	}
	var body strings.Builder
	for line := range strings.SplitSeq(ts.ReadFile(args[1]), "\n") {
		body.WriteString("<w:p><w:r><w:t>")
		ts.Check(xml.EscapeText(&body, []byte(line)))
		body.WriteString("</w:t></w:r></w:p>")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	z := zip.NewWriter(f)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body.String() + `</w:body></w:document>`},
	} {
		w, err := z.Create(part[0])
		ts.Check(err)
		_, err = io.WriteString(w, part[1])
		ts.Check(err)
	}
	ts.Check(z.Close())
}

// cmdShards checks files against bench.json in N shards, whose reports are
// s1ofN.jsonl … A shard may find something or nothing:
//
//	shards N FILE…
func cmdShards(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: shards N FILE…")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i := 1; i <= n; i++ {
		part := strconv.Itoa(i) + "of" + args[0] + ".jsonl"
		call := append([]string{"contam", "check"}, args[1:]...)
		err := ts.Exec("drydock", append(call, "--against", "bench.json", "--report", "s"+part, "--shard", strconv.Itoa(i)+"/"+args[0])...)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 10 {
			continue
		}
		ts.Check(err)
	}
}

// cmdWaitFile waits until a file is there.
func cmdWaitFile(ts *testscript.TestScript, _ bool, args []string) {
	for range 200 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

// cmdJSONOut checks that stdout of the last command is JSON, a document or a
// line each, that every one has a schema or a type, and that the given
// key=value pairs stand at the top of at least one of them; a value is compared
// as compact JSON or as plain text.
func cmdJSONOut(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.ReadFile("stdout")
	if strings.TrimSpace(out) == "" {
		ts.Fatalf("stdout is empty")
	}
	dec := json.NewDecoder(bufio.NewReader(strings.NewReader(out)))
	var docs []map[string]json.RawMessage
	for {
		var doc map[string]json.RawMessage
		err := dec.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			ts.Fatalf("stdout is not JSON: %v\n%s", err, out)
		}
		if doc["schema"] == nil && doc["type"] == nil {
			ts.Fatalf("no schema and no type in %s", out)
		}
		docs = append(docs, doc)
	}
	for _, pair := range args {
		key, want, _ := strings.Cut(pair, "=")
		found := false
		for _, doc := range docs {
			raw := string(doc[key])
			var s string
			if json.Unmarshal(doc[key], &s) == nil && doc[key] != nil && raw != "null" {
				raw = s
			}
			found = found || (doc[key] != nil && raw == want)
		}
		if found == neg {
			ts.Fatalf("%s: found %v in\n%s", pair, found, out)
		}
	}
}
