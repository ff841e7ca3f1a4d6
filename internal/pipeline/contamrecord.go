package pipeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// mask returns a copy of the record without its leaks: what matched is replaced by
// [MaskMark] until no check finds one. It is nil where that cannot be done, as when
// the item stands in a field kept as JSON.
func (f *filterRun) mask(c *checked) *drydock.Record {
	if f.maskers == nil {
		for _, ch := range f.c.checks {
			f.maskers = append(f.maskers, ch.index.Scanner())
		}
	}
	r, found := c.record, c.found
	for range maxMasks {
		spans := map[string][]contam.Span{}
		leaks := 0
		for _, list := range found {
			for i := range list {
				if list[i].Fail {
					leaks++
					addSpans(spans, &list[i])
				}
			}
		}
		if leaks == 0 {
			return r
		}
		next, ok := maskRecord(r, spans)
		if !ok {
			return nil
		}
		r = next
		found = make([][]contam.Finding, len(f.maskers))
		for i, sc := range f.maskers {
			found[i] = sc.Record(r)
		}
	}
	return nil
}

// addSpans adds a finding's spans in its own record, by the pointers of its fields.
func addSpans(spans map[string][]contam.Span, f *contam.Finding) {
	for _, s := range f.Spans {
		if !s.Next {
			spans[s.Pointer] = append(spans[s.Pointer], s)
		}
	}
}

// maskRecord returns a copy of r with the spans masked, which count the characters
// of the fields that their pointers name, as [contam.Scanner.Record] calls them. ok
// is false when there are none, one is in no text, or nothing is left to ask or to
// read.
func maskRecord(r *drydock.Record, spans map[string][]contam.Span) (out *drydock.Record, ok bool) {
	left := len(spans)
	if left == 0 {
		return nil, false
	}
	text := func(pointer string, s *string) {
		if list, has := spans[pointer]; has {
			*s = maskText(*s, list)
			left--
		}
	}
	c := *r
	switch {
	case r.Question != nil:
		q := *r.Question
		q.Options, q.Answer = slices.Clone(q.Options), slices.Clone(q.Answer)
		text("/stem", &q.Stem)
		for i := range q.Options {
			text("/options/"+strconv.Itoa(i)+"/text", &q.Options[i].Text)
		}
		for i := range q.Answer {
			text("/answer/"+strconv.Itoa(i), &q.Answer[i])
		}
		text("/explanation", &q.Explanation)
		text("/reasoning", &q.Reasoning)
		if q.Stem != r.Question.Stem {
			q.Statements = nil // they repeat it
		}
		c.Question = &q
		if !strings.ContainsFunc(q.Stem, isWord) {
			return nil, false
		}
	case r.Chat != nil:
		chat := *r.Chat
		chat.Messages, chat.Rejected = slices.Clone(chat.Messages), slices.Clone(chat.Rejected)
		for i := range chat.Messages {
			maskMessage("/messages/"+strconv.Itoa(i), &chat.Messages[i], text)
		}
		for i := range chat.Rejected {
			maskMessage("/rejected/"+strconv.Itoa(i), &chat.Rejected[i], text)
		}
		c.Chat = &chat
	case r.Passage != nil:
		p := *r.Passage
		p.Heading = slices.Clone(p.Heading)
		for i := range p.Heading {
			text("/heading/"+strconv.Itoa(i), &p.Heading[i])
		}
		text("/text", &p.Text)
		c.Passage = &p
		if !strings.ContainsFunc(p.Text, isWord) {
			return nil, false
		}
	}
	return &c, left == 0
}

func maskMessage(pointer string, m *drydock.Message, text func(string, *string)) {
	text(pointer+"/content", &m.Content)
	text(pointer+"/reasoning_content", &m.Reasoning)
}

// quarantineRow is a line of quarantine.jsonl: a record that leaks, whole, before
// what was found in it.
type quarantineRow struct {
	ID       string            `json:"id"`
	Origin   *originRow        `json:"origin"`
	Question *drydock.Question `json:"question,omitempty"`
	Chat     *drydock.Chat     `json:"chat,omitempty"`
	Passage  *drydock.Passage  `json:"passage,omitempty"`
}

// appendQuarantined appends the line of a record that leaks.
func appendQuarantined(dst []byte, c *checked) ([]byte, error) {
	r := c.record
	row, err := drydock.MarshalJSON(quarantineRow{r.ID.String(), originOf(r), r.Question, r.Chat, r.Passage})
	if err != nil {
		return dst, err
	}
	var hits []ContamHit
	for _, list := range c.found {
		for i := range list {
			hits = append(hits, ContamHit{Finding: list[i]})
		}
	}
	return append(append(dst, annotated(row, hits)...), '\n'), nil
}
