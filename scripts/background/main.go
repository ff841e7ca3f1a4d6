// Command background counts how common the seeds of the contamination check are
// in neutral Chinese and English text, and writes the table that the check
// embeds. run.sh gets the texts, which are no part of the project: the packages
// of manuals it names, at the versions it names.
//
//	background -o background.bin FOLDER…
//
// Every *.html and *.page file of the folders is read. A paragraph counts once,
// however many pages repeat it: what stands on every page is no text.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func main() {
	out := flag.String("o", "background.bin", "table to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "background:", err)
		os.Exit(1)
	}
}

func run(out string, folders []string) error {
	counter := contam.NewBackgroundCounter()
	seen := map[string]bool{}
	for _, dir := range folders {
		before := counter.Stretches()
		files, err := pages(dir)
		if err != nil {
			return err
		}
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			for _, p := range paragraphs(f) {
				if !seen[p] {
					seen[p] = true
					counter.Add(p)
				}
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		fmt.Printf("%d files, %d stretches: %s\n", len(files), counter.Stretches()-before, filepath.Base(dir))
	}
	table, grams := counter.Table()
	fmt.Printf("%d grams, %d bytes\n", grams, len(table))
	return os.WriteFile(out, table, 0o644)
}

// pages returns the pages below a folder, in the order of their paths.
func pages(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && e.Type().IsRegular() && (ext == ".html" || ext == ".page") {
			names = append(names, path)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// blocks are the elements that end a paragraph; of those in skipped nothing is
// text.
var (
	blocks  = []string{"p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "title", "item", "div", "pre", "br", "tr"}
	skipped = []string{"script", "style", "pre", "code", "screen", "noscript", "nav", "header", "footer"}
)

// paragraphs returns the paragraphs of a page of at least 20 characters: shorter
// ones are labels. Mallard pages are XML, which the tokenizer reads as well.
func paragraphs(f *os.File) (out []string) {
	z := html.NewTokenizer(f)
	var b strings.Builder
	depth := 0
	end := func() {
		if p := strings.Join(strings.Fields(b.String()), " "); len([]rune(p)) >= 20 {
			out = append(out, p)
		}
		b.Reset()
	}
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end, or what cannot be read any further
			end()
			return out
		case html.StartTagToken, html.EndTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if slices.Contains(skipped, name) {
				if kind == html.StartTagToken {
					depth++
				} else {
					depth = max(0, depth-1)
				}
			}
			if slices.Contains(blocks, name) {
				end()
			}
		case html.TextToken:
			if depth == 0 {
				b.Write(z.Text())
			}
		}
	}
}
