package msg

// A Phrase is a text with what fills its verbs, to be said when the reader's
// language is known.
type Phrase struct {
	Text Text
	Args []any
}

// In says the phrase in a language.
func (p Phrase) In(l Lang) string { return p.Text.Format(l, p.Args...) }
