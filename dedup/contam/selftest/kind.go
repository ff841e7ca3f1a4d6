package selftest

import (
	"github.com/drydock-ml/drydock/internal/msg"
)

// An Expectation says what must become of a kind.
type Expectation string

// The expectations.
const (
	// Leak must fail the check with the right item named.
	Leak Expectation = "leak"
	// Shown must fail the check, or be shown as a variant of the right item:
	// part of the item was taken away or replaced.
	Shown Expectation = "shown"
	// Variant is another question of the same make: it must be shown as a
	// variant of the item and must not fail the check.
	Variant Expectation = "variant"
	// Clean is no copy at all: it must neither fail nor be called a variant.
	Clean Expectation = "clean"
)

// A Kind is one way to change an item.
type Kind struct {
	Name   string // as reports show it
	Expect Expectation
	// Bar is the least share that must come out as expected.
	Bar float64
	// Title says in a few words what is done.
	Title msg.Text
	// make returns the records of one copy, nil when the item does not suit.
	make func(*draft) []record
}

// A record is one row of data: a text, or the turns of a conversation.
type record []string

// The bars: for changes that leave every word as it was, of single characters
// changed.
const (
	mechanical = .995
	most       = .99
	fewWords   = .98
	filledBar  = .95
	rewordBar  = .90
)

// Kinds returns all kinds, in the order of reports.
func Kinds() []Kind {
	var out []Kind
	for _, list := range [][]Kind{layoutKinds(), partKinds(), placeKinds(), noiseKinds(), variantKinds(), negativeKinds()} {
		out = append(out, list...)
	}
	return out
}

// kind is a row of the tables below.
func kind(name string, expect Expectation, bar float64, title msg.Text, f func(*draft) []record) Kind {
	return Kind{Name: name, Expect: expect, Bar: bar, Title: title, make: f}
}

// text is a copy that is one text; empty: the item does not suit.
func text(f func(*draft) string) func(*draft) []record {
	return func(d *draft) []record {
		if s := f(d); s != "" {
			return []record{{s}}
		}
		return nil
	}
}

// turns is a copy that is one conversation.
func turns(f func(*draft) record) func(*draft) []record {
	return func(d *draft) []record {
		if r := f(d); r != nil {
			return []record{r}
		}
		return nil
	}
}
