package rowfile

import (
	"strconv"

	"github.com/drydock-ml/drydock"
)

// firstRows is how much of a JSON Lines file Hugging Face's datasets takes the
// columns from (json builder, chunksize 10 MiB and the rest of its line): what
// comes later must be what it already knows.
const firstRows = 10 << 20

// Late lists the columns and fields that have no type, or another, in the rows
// datasets takes its types from: loading the rows as JSON Lines fails at the named
// row. Parquet and Arrow carry their types, and so are safe.
func (s *Schema) Late() []Conflict {
	var out []Conflict
	s.root.late("", &out)
	return out
}

func (c *column) late(pointer string, out *[]Conflict) {
	if c.at >= firstRows && c.form != nothing {
		*out = append(*out, Conflict{Pointer: pointer, Row: c.row, Detail: "it is " + c.form.String() + " from row " + strconv.Itoa(c.row) + " on, and none before; readers that take the types from the first 10 MB fail there"})
		return
	}
	if c.elem != nil {
		c.elem.late(pointer, out)
	}
	for _, f := range c.fields {
		f.late(pointer+"/"+drydock.EscapePointer(f.name), out)
	}
}
