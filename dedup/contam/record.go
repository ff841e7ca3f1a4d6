package contam

import (
	"strconv"

	"github.com/drydock-ml/drydock"
)

// Row checks one row of a JSON Lines file, whatever its shape: every string and
// number that is a value is read, in the order of the row, as one text, so that
// a stem and options that stand in different fields or turns belong together.
// The findings carry the row's own id, if it has one, and JSON pointers; file
// and line are the caller's to fill in. An error is a *[SyntaxError]; nothing
// is then known of the row.
func (s *Scanner) Row(row []byte) ([]Finding, error) {
	if err := s.search(row); err != nil {
		return nil, err
	}
	if len(s.order) == 0 {
		s.remember(row, "")
		return nil, nil
	}
	return s.foundIn(row)
}

// search looks for items in a row.
func (s *Scanner) search(row []byte) error {
	s.begin()
	s.row.track = false
	if err := s.row.walk(row, s.add); err != nil {
		return err
	}
	s.find()
	return nil
}

// foundIn reads the row just searched again, now with the pointers of its fields,
// and returns the findings.
func (s *Scanner) foundIn(row []byte) ([]Finding, error) {
	var id string
	n := 0
	s.row.track = true
	// this walk is over the same bytes, so it cannot fail
	err := s.row.walk(row, func(text []byte, number bool) {
		p := s.row.pointer()
		if id == "" && IsID(p) {
			id = string(text)
		}
		if !s.row.bookkeeping(text, number) {
			s.fields[n].pointer, s.fields[n].text = p, text
			n++
		}
	})
	if err != nil {
		return nil, err
	}
	found := s.findings(id)
	s.remember(row, id)
	return found, nil
}

// IsID reports whether a JSON pointer is that of a row's own id. The first such
// field of a row names it.
func IsID(pointer string) bool {
	return pointer == "/id" || pointer == "/record_id" || pointer == "/uid"
}

// bookkeeping reports whether the value that was just read names or numbers
// something and is no text: role, id, index. Such a value between two turns
// would stand between the letters of a question.
func (r *rowScanner) bookkeeping(text []byte, number bool) bool {
	if number {
		return !optionKey(r.key)
	}
	if len(text) > 40 {
		return false
	}
	switch string(r.key) {
	case "role", "from", "id", "record_id", "uid", "type", "kind", "lang", "source", "label", "index", "sha256", "locator", "license", "file":
		return true
	}
	return false
}

// Text checks plain text as one record.
func (s *Scanner) Text(text []byte) []Finding {
	s.begin()
	s.addText(text)
	s.find()
	found := s.findings("")
	s.remember(nil, "")
	return found
}

// Record checks a record of the pipeline. The pointers are those of the row the
// record becomes: /stem, /options/0/text, /messages/1/content, /text.
func (s *Scanner) Record(r *drydock.Record) []Finding {
	s.begin()
	s.addRecord(r)
	s.find()
	if len(s.order) == 0 && !s.seams {
		return nil
	}
	id := r.RowID
	if id == "" {
		id = r.ID.String()
	}
	found := s.findings(id)
	s.remember(nil, id)
	return found
}

func (s *Scanner) begin() {
	s.failed, s.variants, s.placed = s.failed[:0], s.variants[:0], s.placed[:0]
	s.fields = s.fields[:0]
	s.held = s.held[:0]
	s.text.reset()
	s.text.want = false
}

func (s *Scanner) addValue(text []byte, number bool) {
	if !s.row.bookkeeping(text, number) {
		s.addText(text)
	}
}

// addText appends a field to the stream.
func (s *Scanner) addText(text []byte) {
	s.fields = append(s.fields, field{first: len(s.text.letters), text: text})
	s.ix.alpha.feed(&s.text, text)
}

func (s *Scanner) addRecord(r *drydock.Record) {
	add := func(pointer, text string) {
		if text == "" {
			return
		}
		from := len(s.held)
		s.held = append(s.held, text...)
		s.addText(s.held[from:])
		s.fields[len(s.fields)-1].pointer = pointer
	}
	switch {
	case r.Question != nil:
		q := r.Question
		add("/stem", q.Stem)
		for i, o := range q.Options {
			add("/options/"+strconv.Itoa(i)+"/text", o.Text)
		}
		for i, a := range q.Answer {
			add("/answer/"+strconv.Itoa(i), a)
		}
		add("/explanation", q.Explanation)
		add("/reasoning", q.Reasoning)
	case r.Chat != nil:
		for _, part := range []struct {
			name string
			msgs []drydock.Message
		}{{"/messages/", r.Chat.Messages}, {"/rejected/", r.Chat.Rejected}} {
			for i, m := range part.msgs {
				add(part.name+strconv.Itoa(i)+"/content", m.Content)
				add(part.name+strconv.Itoa(i)+"/reasoning_content", m.Reasoning)
			}
		}
		add("/tools", string(r.Chat.Tools))
		for _, f := range r.Chat.Extra {
			add("/"+f.Name, string(f.Value))
		}
	case r.Passage != nil:
		for i, h := range r.Passage.Heading {
			add("/heading/"+strconv.Itoa(i), h)
		}
		add("/text", r.Passage.Text)
	}
}
