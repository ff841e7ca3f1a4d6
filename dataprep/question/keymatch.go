package question

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// matchKeys joins the keys of the open chapter to its questions. A part of the
// key and a part of the bank belong together when their labels agree; the
// counts being equal is the proof. Where they differ only printed numbers that
// leave no doubt are used, the rest of the part is marked as mismatched.
func matchKeys(sections []*section, keys []*keyPart) {
	forgetForms(sections, keys)
	giveByCode(sections, keys)
	keys = slices.DeleteFunc(slices.Clone(keys), func(k *keyPart) bool { return k.used })
	split := splitRestarts(keys)
	if len(split.labelled) > 0 {
		x := indexSections(sections)
		for _, k := range split.labelled {
			if k.none {
				k.used = true
				continue
			}
			matchLabelled(x, k)
		}
	}
	matchPlain(sections, split.plain)
}

// forgetForms takes the kind of item off a lone key, 单选题答案, of a bank that
// prints no such headings: it is the key of everything.
func forgetForms(sections []*section, keys []*keyPart) {
	if len(keys) != 1 || !keys[0].label.isForm || keys[0].label.chapter > 0 || keys[0].label.article > 0 {
		return
	}
	for _, s := range sections {
		if s.path.isForm {
			return
		}
	}
	keys[0].label = keyLabel{}
}

type keySplit struct{ labelled, plain []*keyPart }

// splitRestarts parts a key without labels where its numbers begin again.
func splitRestarts(keys []*keyPart) keySplit {
	var out keySplit
	for _, k := range keys {
		if !k.label.empty() {
			out.labelled = append(out.labelled, k)
			continue
		}
		cur := &keyPart{at: k.at, text: k.text, none: k.none, whole: k}
		last := 0
		for _, r := range k.runs {
			n := r.from
			if n == 0 {
				n = r.paren
			}
			if n > 0 && n <= last && n == 1 {
				out.plain = append(out.plain, cur)
				cur = &keyPart{at: r.at, text: k.text, whole: k}
			}
			if r.to > 0 {
				last = r.to
			} else if n > 0 {
				last = n
			}
			cur.runs = append(cur.runs, r)
		}
		out.plain = append(out.plain, cur)
	}
	return out
}

// maxParen is how many sections are looked through for the subsections that the
// numbers in brackets of a key name.
const maxParen = 1000

func matchLabelled(x *index, k *keyPart) {
	most := -1
	inParens := !slices.ContainsFunc(k.runs, func(r keyRun) bool { return r.paren == 0 })
	if first := k.label.isForm && k.label.chapter == 0; inParens {
		most = maxParen
	} else if first {
		most = 2 // 单选题 of the first part that has no key yet
	}
	found := x.open(k.label, most)
	if len(found) == 0 || inParens && byParen(found, k) {
		return
	}
	lone := true
	if k.label.isForm && k.label.chapter == 0 {
		lone, found = len(found) == 1, found[:1]
	}
	give(found, k, lone)
}

// byParen handles keys such as 第3条 （1）DBD （2）AACCA A, where all numbers are in
// brackets and name a subsection with numbers of its own.
func byParen(found []*section, k *keyPart) bool {
	bySub := map[int]*section{}
	for _, s := range found {
		if s.path.sub == 0 || bySub[s.path.sub] != nil {
			continue
		}
		bySub[s.path.sub] = s
	}
	if len(bySub) == 0 {
		return false
	}
	for from := 0; from < len(k.runs); {
		to := from + 1
		for to < len(k.runs) && k.runs[to].paren == k.runs[from].paren {
			to++
		}
		part := &keyPart{label: k.label, at: k.runs[from].at, text: k.text, whole: k}
		for _, r := range k.runs[from:to] {
			r.paren = 0
			part.runs = append(part.runs, r)
		}
		if s := bySub[k.runs[from].paren]; s != nil && !s.keyed {
			give([]*section{s}, part, false)
		} else {
			k.fail("no subsection " + itoa(k.runs[from].paren) + " is open")
		}
		from = to
	}
	return k.used
}

// matchPlain joins keys that carry no label: to the sections one by one when
// there are as many, else to all of them together.
func matchPlain(sections []*section, keys []*keyPart) {
	var open []*section
	for _, s := range sections {
		if !s.keyed && s.waits() {
			open = append(open, s)
		}
	}
	if len(keys) == 0 || len(open) == 0 {
		return
	}
	if len(keys) == len(open) {
		for i, k := range keys {
			give(open[i:i+1], k, len(keys) == 1)
		}
		return
	}
	if len(keys) == 1 {
		if last := open[len(open)-1:]; fitsAlone(last[0], open, keys[0]) {
			open = last
		}
		give(open, keys[0], true)
		return
	}
	// fewer keys than sections or more: the ones whose counts can only fit in order
	i := 0
	for _, k := range keys {
		n := k.count()
		for i < len(open) && open[i].questions() != n {
			i++
		}
		if i < len(open) {
			give(open[i:i+1], k, false)
			i++
		}
	}
}

// fitsAlone reports a lone key that is the one of the section before it: it prints
// that section's very numbers, while all that wait together are more than it answers
// and count from 1 again. A preface with numbered points of its own is so told from
// the questions.
func fitsAlone(last *section, open []*section, k *keyPart) bool {
	total, first := 0, 0
	for _, s := range open {
		total += s.questions()
		if len(s.items) > 0 && s.items[0].num.n == 1 {
			first++
		}
	}
	entries, broken := k.spell(last.questions())
	if broken || first < 2 || len(entries) != last.questions() || total == len(entries) {
		return false
	}
	i := 0
	for _, it := range last.items {
		if it.heading {
			continue
		}
		if entries[i].n != it.num.n {
			return false
		}
		i++
	}
	return true
}

// count is how many questions a key answers; -1 when its rows contradict
// themselves.
func (k *keyPart) count() int {
	n := 0
	for _, r := range k.runs {
		e, ok := r.entries()
		if !ok {
			return -1
		}
		n += len(e)
	}
	return n
}

// give hands the answers of one key part to the questions of the sections. lone says
// that no other part of the key may be meant for them.
func give(sections []*section, k *keyPart, lone bool) {
	k.used = true
	if k.whole != nil {
		k.whole.used = true
	}
	var items []*item
	for _, s := range sections {
		s.keyed = true
		for _, it := range s.items {
			if !it.heading {
				items = append(items, it)
			}
		}
	}
	entries, broken := k.spell(len(items))
	if open := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.solved }); len(entries) != len(items) && len(open) == len(entries) {
		items = open // the others have their answers beside them
	}
	defer deal(sections, k.size())
	one := sortByItems(entries, items)
	if !broken && len(entries) == len(items) && (one || inOrder(entries)) {
		same := true
		for i, it := range items {
			same = same && (entries[i].n == it.num.n || entries[i].n == 0)
		}
		var why doubt
		if !same {
			why = doubtKeyOrder
		}
		for i, it := range items {
			it.take(entries[i], why)
		}
		return
	}
	why := fmt.Sprintf("%d questions, %d answers in the key", len(items), len(entries))
	if broken {
		why = "a row of the key has more or fewer letters than numbers"
	}
	k.fail(why)
	giveByNumber(items, entries, broken || lone && nearlyAll(items, entries), why)
}

// giveByCode joins the keys that print ids to the questions that print them.
func giveByCode(sections []*section, keys []*keyPart) {
	var by map[string][]codedItem
	for _, k := range keys {
		if len(k.runs) == 0 || slices.ContainsFunc(k.runs, func(r keyRun) bool { return r.code == "" }) {
			continue
		}
		if by == nil {
			by = codes(sections)
		}
		k.giveCodes(by)
	}
}

// A codedItem is a question that prints an id, and where it stands.
type codedItem struct {
	it  *item
	sec *section
}

// codes lists the questions by their ids.
func codes(sections []*section) map[string][]codedItem {
	by := map[string][]codedItem{}
	for _, s := range sections {
		for _, it := range s.items {
			if it.num.style == numCode {
				by[it.code()] = append(by[it.code()], codedItem{it, s})
			}
		}
	}
	return by
}

// giveCodes gives each question its answer where the key has its id once. Of
// questions that print one id the first is meant.
func (k *keyPart) giveCodes(by map[string][]codedItem) {
	entries, broken := k.spell(0)
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.code] {
			return
		}
		seen[e.code] = true
	}
	left := 0
	for _, e := range entries {
		q := by[e.code]
		if len(q) == 0 {
			left++
			continue
		}
		q[0].it.take(e, "")
		q[0].sec.keyed, k.used = true, true
		q[0].sec.tally.keyed++
	}
	if k.used && (broken || left > 0) {
		k.fail(itoa(left) + " ids in the key are not in the file")
	}
}

// deal counts the answers of a key for the sections it is for: each as many as it
// got, the rest for the last of them that still waits.
func deal(sections []*section, n int) {
	last := sections[len(sections)-1]
	for _, s := range sections {
		got := 0
		for _, it := range s.items {
			if it.hasKey {
				got++
			}
		}
		if s.tally.keyed += got; got < s.questions() && s.waits() {
			last = s
		}
		n -= got
	}
	last.tally.keyed += max(0, n)
}

// size is how many answers a key prints, rows that contradict themselves included.
func (k *keyPart) size() int {
	n := 0
	for _, r := range k.runs {
		want, letters := r.to-r.from+1, 0
		for _, g := range r.groups {
			if judgeMark(g) > 0 {
				letters++
			} else {
				letters += utf8.RuneCountInString(g)
			}
		}
		if r.from > 0 && (want == 1 || want == len(r.groups)) {
			letters = want
		}
		n += letters
	}
	return n
}

// sortByItems puts entries in the order of the questions when both carry the
// same numbers, each once: a key in columns is read across, 1, 7, 2, 8 ….
// It reports whether they do: then the numbers alone join the two.
func sortByItems(entries []keyEntry, items []*item) bool {
	if len(entries) != len(items) {
		return false
	}
	place := make(map[int]int, len(items))
	for i, it := range items {
		place[it.num.n] = i
	}
	if len(place) != len(items) {
		return false
	}
	seen := make([]bool, len(items))
	for _, e := range entries {
		i, ok := place[e.n]
		if !ok || seen[i] {
			return false
		}
		seen[i] = true
	}
	slices.SortFunc(entries, func(a, b keyEntry) int { return cmp.Compare(place[a.n], place[b.n]) })
	return true
}

// inOrder reports whether the numbers a key prints never jump back within a
// count: only then may it be dealt out by order alone.
func inOrder(entries []keyEntry) bool {
	for i := 1; i < len(entries); i++ {
		if a, b := entries[i-1].n, entries[i].n; a > 0 && b > 0 && b <= a && b != 1 {
			return false
		}
	}
	return true
}

// fail notes that part of the key could not be used.
func (k *keyPart) fail(why string) {
	k.why = why
	if k.whole != nil {
		k.whole.why = why
	}
}

// missable is of how many questions with an answer one more may lack it, or one
// answer its question: too few prove nothing.
const missable = 10

// nearlyAll reports numbers of which one side prints all that the other does and a
// few more: a key that begins at 2, or whose last row is lost.
func nearlyAll(items []*item, entries []keyEntry) bool {
	asked := make(map[int]bool, len(items))
	for _, it := range items {
		asked[it.num.n] = true
	}
	both := 0
	for _, e := range entries {
		if asked[e.n] {
			both++
		}
	}
	few, many := min(len(items), len(entries)), max(len(items), len(entries))
	return both == few && many-few <= both/missable
}

// giveByNumber joins by printed number where the counts differ. A number is
// trusted only when it stands once on either side and both lists run upwards, and
// both end at the same number or sure says that nothing else is meant: then a lost
// question or row explains the difference. All other questions are marked.
func giveByNumber(items []*item, entries []keyEntry, sure bool, why string) {
	ok := len(items) > 0 && len(entries) > 0
	for i := 1; i < len(items); i++ {
		ok = ok && items[i].num.n > items[i-1].num.n
	}
	slices.SortStableFunc(entries, func(a, b keyEntry) int { return cmp.Compare(a.n, b.n) }) // a key in columns is read across
	by := map[int]keyEntry{}
	for i, e := range entries {
		ok = ok && e.n > 0 && (i == 0 || e.n > entries[i-1].n)
		by[e.n] = e
	}
	ok = ok && (sure || items[len(items)-1].num.n == entries[len(entries)-1].n)
	for _, it := range items {
		if e, found := by[it.num.n]; ok && found {
			it.take(e, doubtKeyNumber)
			continue
		}
		it.mismatch = why
		if ok {
			it.mismatch = "the key has no answer for number " + itoa(it.num.n) + "; " + why
		}
	}
}

// spell lists the entries of all runs. want settles runs without numbers.
// broken says that a row's letters are not as many as its numbers.
func (k *keyPart) spell(want int) (out []keyEntry, broken bool) {
	numbered := false
	for _, r := range k.runs {
		numbered = numbered || r.from > 0 || r.paren > 0
	}
	if !numbered {
		var groups []string
		for _, r := range k.runs {
			groups = append(groups, r.groups...)
		}
		if len(k.runs) == 0 {
			return nil, false
		}
		e, ok := spread(groups, want, 1, k.runs[0])
		if !ok {
			e, _ = spread(groups, 0, 1, k.runs[0])
			for i := range e {
				e[i].n = 0
			}
		}
		return e, false
	}
	for _, r := range k.runs {
		if r.from == 0 && r.paren > 0 {
			r.from, r.to = r.paren, r.paren
		}
		e, ok := r.entries()
		if !ok {
			broken = true
			continue
		}
		out = append(out, e...)
	}
	return out, broken
}

// take gives the item its answer from a key. An answer printed with the item
// itself goes first; a different one in the key is a contradiction.
func (it *item) take(e keyEntry, why doubt) {
	it.key = e
	it.hasKey = true
	it.keyDoubt = why
}
