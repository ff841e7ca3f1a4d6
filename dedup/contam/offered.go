package contam

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// An offer is one option the record offers: the text up to the next label, and
// its first line where it has several, since more than the option may follow.
type offer struct {
	text, line []letter
	raw        []byte // text as it stands
}

// is reports whether f holds for the option, however much of it is taken.
func (o offer) is(f func([]letter) bool) bool {
	return f(o.text) || len(o.line) > 0 && f(o.line)
}

// findOffers finds the options the record offers: fields that are named so, else
// labelled texts close behind the stem. None when it offers fewer than two.
func (e *evidence) findOffers(a *alphabet) {
	texts := e.texts[:0]
	for _, f := range e.fields {
		if optionField(f.pointer) {
			texts = append(texts, f.text)
		}
	}
	e.lettered = len(texts) >= 2
	if len(texts) < 2 {
		e.visible = a.visible(e.visible[:0], e.tail(400+12*e.it.optionLen))
		texts, e.lettered = labelled(texts[:0], e.visible, e.ownLine())
	}
	e.texts = texts
	if len(texts) < 2 {
		return
	}
	for _, t := range texts {
		o := offer{text: e.lettersOf(a, t), raw: t}
		if line, rest, ok := bytes.Cut(bytes.TrimSpace(t), []byte("\n")); ok && len(bytes.TrimSpace(rest)) > 0 {
			o.line = e.lettersOf(a, line)
		}
		e.options = append(e.options, o)
	}
}

// lettersOf returns the letters of an option offered.
func (e *evidence) lettersOf(a *alphabet, text []byte) []letter {
	from := len(e.offered.letters)
	a.feed(&e.offered, text)
	return e.offered.letters[from:len(e.offered.letters):len(e.offered.letters)]
}

// visible appends text as a reader sees it to out: without what folds to nothing and
// without markup, which may stand between a label and its point. A tag that
// begins a line is a line end.
func (a *alphabet) visible(out, text []byte) []byte {
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && plainASCII(text[i]) {
			i++
		}
		if out = append(out, text[from:i]...); i == len(text) {
			break
		}
		if n := skipMarkup(text[i:]); n > 0 {
			if beginsLine(text[i : i+n]) {
				out = append(out, '\n')
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if e, w := sign(text, i); w > 0 {
			r, n = e, w
		}
		i += n
		if p, rest := a.folder.Rune(r); p.Class != textnorm.Ignored || rest != nil {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// plainASCII reports whether a byte is a sign that stands for itself wherever it is.
func plainASCII(c byte) bool {
	return c >= ' ' && c < 0x7F && c != '<' && c != '&' && c != '\\' && c != '%' && c != '='
}

// beginsLine reports whether markup is a tag or an escape that a line ends with.
func beginsLine(tag []byte) bool {
	if plain, n := writtenOut(tag); n > 0 {
		tag = plain
	}
	if tag[0] == '\\' {
		return true // \n, \item
	}
	name := bytes.ToLower(bytes.TrimLeft(tag[1:], "/"))
	name = name[:len(name)-len(bytes.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	switch string(name) {
	case "br", "p", "li", "td", "th", "tr", "div", "ol", "ul", "dd", "dt", "h", "table", "option", "choice":
		return true
	}
	return false
}

// tail returns up to most bytes of the text behind the stem: the rest of its
// field, then the fields that follow. It is valid until the next call.
func (e *evidence) tail(most int) []byte {
	if e.region[1] == 0 {
		return nil
	}
	n := e.fieldOf(e.region[1] - 1)
	rest := e.fields[n].text[e.after(e.region[1]-1):]
	if len(rest) >= most || n+1 == len(e.fields) {
		return rest[:min(len(rest), most)]
	}
	out := append(e.tailText[:0], rest...)
	for n++; n < len(e.fields) && len(out) < most; n++ {
		out = append(out, '\n')
		rest := e.fields[n].text
		out = append(out, rest[:min(len(rest), most)]...)
	}
	e.tailText = out
	return out[:min(len(out), most)]
}

// head returns the text of the stem's field before the stem.
func (e *evidence) head() []byte {
	if e.region[1] == 0 {
		return nil
	}
	n := e.fieldOf(e.region[0])
	return e.fields[n].text[:e.origins[e.region[0]].byte]
}

// raw returns the text of the stem as it stands; of the first field where it
// stands in two.
func (e *evidence) raw() []byte {
	if e.region[1] == 0 {
		return nil
	}
	n := e.fieldOf(e.region[0])
	from := int(e.origins[e.region[0]].byte)
	if m := e.fieldOf(e.region[1] - 1); m != n {
		return e.fields[n].text[from:]
	}
	return e.fields[n].text[from:e.after(e.region[1]-1)]
}

// optionField reports whether a pointer names an option: /A, /options/2/text,
// /choices/1, /option_b, /选项A.
func optionField(p string) bool {
	if k := p[strings.LastIndexByte(p, '/')+1:]; k != "text" && optionKey([]byte(k)) {
		return true
	}
	low := strings.ToLower(p)
	return strings.Contains(low, "/option") || strings.Contains(low, "/choice") || strings.Contains(low, "/选项") ||
		strings.Contains(low, "/distractor")
}

// optionKey reports whether a key names an option, or a list of them.
func optionKey(k []byte) bool {
	if len(k) == 1 {
		return k[0] >= 'A' && k[0] <= 'H' || k[0] >= 'a' && k[0] <= 'h'
	}
	switch string(k) {
	case "option", "options", "choice", "choices", "选项", "text":
		return true
	}
	return bytes.HasPrefix(k, []byte("option"))
}

// labelKinds are the ways options are lettered; each string holds the labels in
// order.
var labelKinds = [...]string{
	"ABCDEFGH", "ＡＢＣＤＥＦＧＨ", "甲乙丙丁戊己", "abcdefgh", "ⓐⓑⓒⓓⓔⓕ", "12345678", "①②③④⑤⑥⑦⑧", "ⅠⅡⅢⅣⅤⅥ",
}

const capitalKinds = 3

// longestKind is the most labels of a kind.
const longestKind = 8

// labelled cuts text at option labels and appends to out the texts behind the first
// kind of label that numbers two or more of them in order; none when none does.
// capital is set for the labels that only options have.
// Circled numbers come late: options often say which statements hold.
//
// Where ownLine is set the stem is a line by itself. If what follows it is an
// entry of the same list, the labels in that are not of its options.
func labelled(out [][]byte, text []byte, ownLine bool) (options [][]byte, capital bool) {
	for k := range labelKinds {
		labels := []rune(labelKinds[k])
		if !bytes.ContainsRune(text, labels[1]) {
			continue
		}
		got, from := labelledBy(out, text, labels)
		if len(got) >= 2 && (!closeBehind(text[:from]) || ownLine && !beginsLabelled(text[:from])) {
			continue
		}
		empty := 0
		for _, t := range got {
			if len(bytes.TrimSpace(t)) == 0 {
				empty++
			}
		}
		if len(got) >= 2 && ownLine && article(text[from:], got[0]) {
			continue
		}
		if len(got) >= 2 && empty == 0 {
			return got, k < capitalKinds
		}
	}
	return out, false
}

// farOptions is how many characters may stand between a stem and its options.
const farOptions = 40

// closeBehind reports whether between, what stands between a stem and its first
// option, is short and no other question: what is numbered further on are other
// things.
func closeBehind(between []byte) bool {
	between = bytes.TrimLeftFunc(between, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	n := 0
	for i := 0; i < len(between); {
		r, size := utf8.DecodeRune(between[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
		if r == '？' || r == '?' || blankAt(between[i:], 32) {
			return false
		}
		i += size
	}
	return n <= farOptions
}

// optionsHeading is how many letters may stand between a stem's line and the
// first option: 选项, Options, Answer choices.
const optionsHeading = 16

// article reports whether the first label, at which text begins, and the text
// behind it are rather an article and its sentence in another entry of a list: A
// new valve was introduced by MAN B & W.
func article(text, option []byte) bool {
	_, n := utf8.DecodeRune(text)
	lines := bytes.Count(bytes.TrimSpace(option), []byte("\n"))
	return lines > 2 || n < len(text) && text[n] == ' ' && !bytes.ContainsRune(option, '\n')
}

// beginsLabelled reports whether what stands between the end of a stem's line
// and the first label of an option ends its line, as options and their heading do.
func beginsLabelled(between []byte) bool {
	if signs(between, optionsHeading+1) > optionsHeading {
		return false
	}
	line := between[bytes.LastIndexByte(between, '\n')+1:]
	return signs(line, 1) == 0 || bytes.ContainsAny(line, ":：")
}

// labelledBy appends the texts behind the labels to out, and returns where the first
// label stands.
func labelledBy(out [][]byte, text []byte, labels []rune) (options [][]byte, first int) {
	type cut struct{ from, to int } // the label itself
	var all [longestKind]cut
	cuts := all[:0]
	bare := labels[0] == '①' || labels[0] == 'ⓐ'
	number := labels[0] == '1'
	last := 0 // behind the label before
	for i := 0; len(cuts) < len(labels); {
		at := bytes.IndexRune(text[i:], labels[len(cuts)])
		if at < 0 {
			break
		}
		i += at
		start, begins, open := i, bare || i == last, false
		if i > last {
			before, n := utf8.DecodeLastRune(text[last:i])
			if open = strings.ContainsRune("(（[【", before); open {
				start -= n
			}
			begins = begins || open || beforeLabel(before, number)
		}
		i += utf8.RuneLen(labels[len(cuts)])
		if !begins {
			continue
		}
		if end := labelEnd(text, i, bare, open || number); end > 0 {
			cuts = append(cuts, cut{start, end})
			i, last = end, end
		}
	}
	if len(cuts) < 2 {
		return out, 0
	}
	for k, c := range cuts {
		to := len(text)
		if k+1 < len(cuts) {
			to = cuts[k+1].from
		} else if nl := bytes.IndexByte(text[c.to:], '\n'); nl > 0 {
			to = c.to + nl
		}
		out = append(out, text[c.to:to])
	}
	return out, cuts[0].from
}

// beforeLabel reports whether a label may stand behind r: not a digit behind 0.
func beforeLabel(r rune, number bool) bool {
	if number && (r == '.' || r == ':') {
		return false
	}
	return r <= ' ' || r == 0x3000 || r == 0xA0 || strings.ContainsRune("；;|，,。.？?：:>）)", r)
}

// labelEnd returns the end of what closes a label at i, 0 when nothing does.
func labelEnd(text []byte, i int, bare, open bool) int {
	if bare {
		return i
	}
	if i >= len(text) {
		return 0
	}
	r, n := utf8.DecodeRune(text[i:])
	if strings.ContainsRune(".．、:：)）]】|", r) {
		if r == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' && i > 0 && text[i-1] < 'A' {
			return 0 // 1.6
		}
		return i + n
	}
	if !open && (r == ' ' || r == '\t' || r == '\n' || r == 0x3000) {
		// A 3: a line break may split the label from its point
		j := i + n
		if r2, n2 := utf8.DecodeRune(text[min(j, len(text)):]); r == '\n' && strings.ContainsRune(".．、", r2) && n2 > 0 {
			return j + n2
		}
		return j
	}
	return 0
}
