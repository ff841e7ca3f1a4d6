package preset

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/rowtext"
)

// A Scanner checks records by the rule of its index.
type Scanner struct{ ix *Index }

// Scanner returns a scanner.
func (ix *Index) Scanner() *Scanner { return &Scanner{ix} }

// Row checks one row of a JSON Lines file. What the rule reads is the field
// text, where the row has one, else the text of all turns, else of all fields,
// a line each. An error is a *[contam.SyntaxError].
func (s *Scanner) Row(row []byte) ([]contam.Finding, error) {
	r, err := rowtext.Read(row)
	if err != nil {
		return nil, err
	}
	fields := r.Fields
	if i := slices.IndexFunc(fields, func(f rowtext.Field) bool { return f.Pointer == "/text" }); i >= 0 {
		fields = fields[i : i+1]
	}
	return s.findings(r.ID, fields), nil
}

// Text checks plain text as one record.
func (s *Scanner) Text(text []byte) []contam.Finding {
	return s.findings("", []rowtext.Field{{Text: string(text)}})
}

func (s *Scanner) findings(id string, fields []rowtext.Field) []contam.Finding {
	var text []rune
	starts := make([]int, len(fields))
	for i, f := range fields {
		if i > 0 {
			text = append(text, '\n')
		}
		starts[i] = len(text)
		text = append(text, []rune(f.Text)...)
	}
	var out []contam.Finding
	for _, m := range s.ix.match.match(text) {
		at := 0
		for at+1 < len(starts) && starts[at+1] <= m.from {
			at++
		}
		end := min(m.to, starts[at]+utf8.RuneCountInString(fields[at].Text))
		out = append(out, contam.Finding{
			Record:     contam.Place{ID: id, Pointer: fields[at].Pointer},
			Item:       s.ix.refs[m.item],
			Verdict:    contam.Near,
			Fail:       true,
			Score:      m.score,
			Components: contam.Components{Stem: m.score, Options: math.NaN(), Statements: math.NaN()},
			Spans:      []contam.Span{{Start: m.from - starts[at], End: end - starts[at], Pointer: fields[at].Pointer}},
			Rule:       s.ix.rule.ID(),
			Config:     s.ix.ConfigHash(),
		})
	}
	return out
}
