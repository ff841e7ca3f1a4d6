package benchmark

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// The places a template can have, one byte each; names gives what they are called.
const (
	placeQuestion = "q"
	placeChoices  = "c"
	placeLetters  = "l"
	placeSubject  = "s"
	placeLetter   = "L"
	placeText     = "t"
	placeAnswer   = "a"
	placeExamples = "e"
)

// placeName returns the name of a place in a template: {question}.
func placeName(place byte) string {
	switch place {
	case placeQuestion[0]:
		return "{question}"
	case placeChoices[0]:
		return "{choices}"
	case placeLetters[0]:
		return "{letters}"
	case placeSubject[0]:
		return "{subject}"
	case placeLetter[0]:
		return "{letter}"
	case placeText[0]:
		return "{text}"
	case placeAnswer[0]:
		return "{answer}"
	}
	return "{examples}"
}

// A template is a text cut at its places, so that rendering is appending and
// braces inside what is filled in mean nothing.
type template struct {
	source string
	fixed  []string // the text before each place, and after the last: one more than places
	places []byte   // as they stand
}

// parseTemplate cuts a text. The places it must have stand in it exactly once,
// those it may have as often as it likes.
func parseTemplate(bench, field, source, must, may string) (template, error) {
	t := template{source: source}
	for i := range len(must) {
		if name := placeName(must[i]); strings.Count(source, name) != 1 {
			return t, fail.New(fail.Config, msg.Text{"%s: %s must hold %s exactly once", "%s：%s 必须恰好包含一个 %s"}, bench, field, name)
		}
	}
	for rest := source; ; {
		at, place := -1, byte(0)
		for _, p := range []byte(must + may) {
			if i := strings.Index(rest, placeName(p)); i >= 0 && (at < 0 || i < at) {
				at, place = i, p
			}
		}
		if at < 0 {
			t.fixed = append(t.fixed, rest)
			return t, nil
		}
		t.fixed = append(t.fixed, rest[:at])
		t.places = append(t.places, place)
		rest = rest[at+len(placeName(place)):]
	}
}

// render appends the text with its places filled.
func (t *template) render(dst []byte, fill func(dst []byte, place byte) []byte) []byte {
	for i, p := range t.places {
		dst = append(dst, t.fixed[i]...)
		dst = fill(dst, p)
	}
	return append(dst, t.fixed[len(t.places)]...)
}

// unrender returns what was filled into the two places of a template; ok is false
// when it has other than two, or the text is not of it.
func (t *template) unrender(text string) (first, second string, ok bool) {
	if len(t.places) != 2 {
		return "", "", false
	}
	if text, ok = strings.CutPrefix(text, t.fixed[0]); !ok {
		return "", "", false
	}
	if text, ok = strings.CutSuffix(text, t.fixed[2]); !ok {
		return "", "", false
	}
	i := strings.LastIndex(text, t.fixed[1])
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+len(t.fixed[1]):], true
}
