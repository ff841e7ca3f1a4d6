// Command gendocs writes docs/reference from what drydock says about itself.
// With -check it writes nothing and fails when a file differs.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/cli"
	"github.com/drydock-ml/drydock/internal/msg"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	fs := flag.NewFlagSet("gendocs", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("dir", filepath.Join("docs", "reference"), "folder to write")
	check := fs.Bool("check", false, "compare only; exit 1 when a file differs")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	files, err := reference()
	if err != nil {
		fmt.Fprintln(stderr, "gendocs:", err)
		return 1
	}
	var stale []string
	for _, f := range files {
		path := filepath.Join(*dir, f.name)
		have, err := os.ReadFile(path)
		if err == nil && bytes.Equal(bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")), f.data) {
			continue
		}
		if *check {
			stale = append(stale, f.name)
			continue
		}
		if err := atomicfile.WriteFile(path, f.data); err != nil {
			fmt.Fprintln(stderr, "gendocs:", err)
			return 1
		}
	}
	stale = append(stale, strangers(*dir, files)...)
	for _, name := range stale {
		fmt.Fprintf(stderr, "gendocs: %s differs from what the program says; run go run ./cmd/gendocs\n", filepath.Join(*dir, name))
	}
	if len(stale) > 0 {
		return 1
	}
	return 0
}

type file struct {
	name string
	data []byte
}

// reference is every file of docs/reference: NAME.md and NAME.zh.md, and the
// JSON Schema of drydock.yaml.
func reference() ([]file, error) {
	schema, err := cli.ConfigSchema()
	if err != nil {
		return nil, err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, schema, "", "  "); err != nil {
		return nil, err
	}
	pretty.WriteByte('\n')
	out := []file{{"drydock.schema.json", pretty.Bytes()}}
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		ending := ".md"
		if lang == msg.Zh {
			ending = ".zh.md"
		}
		for _, p := range cli.Pages(lang) {
			out = append(out, file{p.Name + ending, []byte(p.Text)})
		}
	}
	return out, nil
}

// strangers lists what lies in the folder and is not generated: a page of
// something that is gone.
func strangers(dir string, files []file) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !slices.ContainsFunc(files, func(f file) bool { return f.name == e.Name() }) {
			out = append(out, e.Name())
		}
	}
	return out
}
