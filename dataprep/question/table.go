package question

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

type table struct{}

func (r *reader) tableRow(b drydock.Block) {
	r.text.feed(drydock.Block{Text: cellsAsText(b.Cells), At: b.At})
}
func (r *reader) endTable() {}

// cellsAsText is a row as a line of text.
func cellsAsText(cells []string) string { return strings.Join(cells, "\t") }

func (s *sampler) cells(cells []string) bool { return false }
