package format_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
)

// peerBlock is what another reader found: cells of a row, or a paragraph.
type peerBlock struct {
	Sheet string
	Row   int
	Cells []string
	Text  string
	Level int
}

// TestInterop reads a workbook made by openpyxl and a document made by
// python-docx as these read them. scripts/interop/sources.py made the files;
// book.xls is the workbook as LibreOffice saves it for Excel 97.
func TestInterop(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"book.xlsx", "book.xls", "text.docx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "interop", strings.Replace(name+".json", ".xls.", ".xlsx.", 1)))
			if err != nil {
				t.Fatal(err)
			}
			var peer []peerBlock
			if err := json.Unmarshal(data, &peer); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, b := range peer {
				want = append(want, fmt.Sprintf("%s %d %d %q %q", b.Sheet, b.Row, b.Level, b.Cells, b.Text))
			}
			for _, b := range readAll(t, filepath.Join("testdata", "interop", name)).Blocks {
				if b.Cells == nil || strings.HasPrefix(name, "book") {
					got = append(got, fmt.Sprintf("%s %d %d %q %q", b.At.Sheet, b.At.Row, b.Level, trimmed(b), b.Text))
				} else { // a document's table rows have no place of their own there
					got = append(got, fmt.Sprintf(" 0 0 %q %q", b.Cells, ""))
				}
			}
			compare(t, want, got)
		})
	}
}

// trimmed gives a block's cells without the empty ones at the end.
func trimmed(b drydock.Block) []string {
	cells := b.Cells
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return cells
}
