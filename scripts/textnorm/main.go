// Command textnorm writes internal/textnorm/han.txt: pairs of a Chinese
// character form and the form it folds to, from the character dictionaries of
// github.com/longbridgeapp/opencc (Apache-2.0). Run it by scripts/textnorm/run.sh.
package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// forms maps a character form to the one it folds to.
type forms map[rune]rune

// fold follows the map to its end.
func (f forms) fold(r rune) rune {
	for range 8 { // no chain is that long; a cycle ends
		t, ok := f[r]
		if !ok || t == r {
			return r
		}
		r = t
	}
	return r
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: textnorm OPENCC-DIR OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "textnorm:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	f, err := readForms(func(name string, do func(rune, []rune)) error {
		return each(filepath.Join(dir, "dictionary", name+".txt"), do)
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	n := 0
	for _, r := range slices.Sorted(maps.Keys(f)) {
		t := f.fold(r)
		if t == r {
			continue
		}
		b.WriteRune(r)
		b.WriteRune(t)
		if n++; n%32 == 0 {
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
	return os.WriteFile(out, []byte(b.String()), 0o644)
}

// readForms joins the dictionaries; dict calls do for each entry of one.
func readForms(dict func(name string, do func(rune, []rune)) error) (forms, error) {
	f := forms{}
	// A traditional form goes to its first simplified form that is another
	// character: 覆 and 复 then meet, as they do when a converter guesses.
	err := dict("TSCharacters", func(from rune, to []rune) {
		for _, t := range to {
			if t != from {
				f[from] = t
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	err = dict("STCharacters", func(s rune, traditional []rune) {
		for _, t := range traditional {
			switch {
			case t == s || f.fold(t) == f.fold(s):
			case f.fold(t) == t:
				f[t] = s
			case !inGB2312(s): // 馀, 讬: forms that only dictionaries keep apart
				f[s] = f.fold(t)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"TWVariants", "HKVariants", "JPVariants"} {
		err := dict(name, func(base rune, variants []rune) {
			for _, v := range variants {
				// a regional form that the mainland writes too is another
				// character there (芸, 欠)
				if _, ok := f[v]; !ok && v != base && !inGB2312(v) && f.fold(base) != v {
					f[v] = f.fold(base)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// inGB2312 reports whether the mainland's basic set has the character.
func inGB2312(r rune) bool {
	b, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(string(r)))
	return err == nil && len(b) == 2 && b[0] >= 0xB0 && b[0] <= 0xF7 && b[1] >= 0xA1
}

// each reads "form<TAB>form form …" lines of single characters.
func each(path string, do func(rune, []rune)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		from, to, ok := strings.Cut(sc.Text(), "\t")
		if !ok || utf8.RuneCountInString(from) != 1 {
			continue
		}
		r, _ := utf8.DecodeRuneInString(from)
		var cand []rune
		for _, t := range strings.Fields(to) {
			if utf8.RuneCountInString(t) == 1 {
				v, _ := utf8.DecodeRuneInString(t)
				cand = append(cand, v)
			}
		}
		do(r, cand)
	}
	return sc.Err()
}
