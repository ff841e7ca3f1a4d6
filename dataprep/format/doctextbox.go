package format

// A docBox is the text of a text box, or of several that it flows through, from one
// character of the document to another.
type docBox struct{ from, to int }

// docBoxes are the text boxes of a document. The character that a shape is anchored
// with names the shape, and the shape its text ([MS-DOC] 2.8.10, 2.8.37). Shapes in a
// group have no anchor of their own.
type docBoxes struct {
	all     []docBox
	byShape map[int]int // places in all
	shapes  map[int]int // by the character that anchors them
	given   []bool
}

// readBoxes reads where the text boxes begin whose characters stand from one place to
// another, and what anchors them in the text, which ends at end. Where the table of
// the boxes is damaged they are one.
func (d *doc) readBoxes(end, from, to int) {
	const place, text, shape = 4, 22, 26
	b := docBoxes{byShape: map[int]int{}, shapes: map[int]int{}}
	table := d.pair(pairBoxes)
	n := max(0, (len(table)-place)/(place+text))
	for i, at := 0, from; i < n && at < to; i++ {
		entry := (n+1)*place + i*text
		box := docBox{from: at, to: min(max(from+table.u32((i+1)*place), at), to)}
		at = box.to
		if unused := table.u16(entry+8) != 0; !unused && box.from < box.to {
			b.byShape[table.u32(entry+14)] = len(b.all)
			b.all = append(b.all, box)
		}
	}
	if len(b.all) == 0 && from < to {
		b.all = []docBox{{from, to}}
	}
	table = d.pair(pairAnchors)
	n = max(0, (len(table)-place)/(place+shape))
	for i := range n {
		if at := table.u32(i * place); at < end { // no box stands in another
			b.shapes[at] = table.u32((n+1)*place + i*shape)
		}
	}
	b.given = make([]bool, len(b.all))
	d.boxes = b
}

// anchor keeps the box that is anchored at a character until its paragraph ends, or
// for good where the anchor is deleted.
func (d *doc) anchor(c docChar) {
	shape, ok := d.boxes.shapes[c.at]
	if !ok {
		return
	}
	i, ok := d.boxes.byShape[shape]
	if !ok || d.boxes.given[i] {
		return
	}
	if d.boxes.given[i] = true; !d.flow.struck {
		d.flow.boxes = append(d.flow.boxes, d.boxes.all[i])
	}
}

// anchored gives the boxes that wait, behind the paragraph or the row they are
// anchored in; their paragraphs are counted with the others.
func (d *doc) anchored() error {
	f := &d.flow
	if len(f.boxes) == 0 || len(f.cells) > 0 || len(f.cell) > 0 || f.p.struck {
		return nil
	}
	outer, n := d.flow, d.flow.paragraphs-1
	for _, b := range outer.boxes {
		var err error
		if n, err = d.box(b, n); err != nil {
			return err
		}
	}
	outer.boxes, outer.paragraphs, outer.p.number = nil, n+1, n+1
	d.flow = outer
	return nil
}

// looseBoxes gives the boxes that no character anchors.
func (d *doc) looseBoxes() (err error) {
	d.docx.part = "textboxes"
	n := 0
	for i, b := range d.boxes.all {
		if !d.boxes.given[i] && err == nil {
			n, err = d.box(b, n)
		}
	}
	return err
}

// box gives the text of a box behind n other paragraphs, and says how many there are
// with it.
func (d *doc) box(b docBox, n int) (int, error) {
	d.flow = flowState{lookStyle: -1, paragraphs: n}
	err := d.characters(b.from, b.to)
	return d.flow.paragraphs - 1, err
}
