package contam

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// No file of the project holds an item of the benchmark: fixtures are our own.
func TestRealItemsNotInProject(t *testing.T) {
	t.Parallel()
	ix, _ := realIndex(t)
	s := ix.Scanner()
	texts := []string{".go", ".txtar", ".txt", ".md", ".json", ".jsonl", ".yaml", ".csv", ".html", ".golden"}
	const most = 4 << 20 // bytes; what is larger is a table
	read := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(texts, filepath.Ext(path)):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > most {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, f := range s.Text(data) {
			if f.Fail {
				t.Errorf("%s holds item %d: %s", path, f.Item.Index, f.Verdict)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 500 {
		t.Errorf("only %d files were read", read)
	}
}
