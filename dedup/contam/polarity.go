package contam

import "slices"

// A turn is a word that turns a question round, and what stands for it where
// polarity does not count: a negation is left out, two opposites become one.
// Two negations undo each other (不正确, 错误).
type turn struct {
	word, as string
	negates  bool
}

// turns are tried in order, the longer word before the one it contains.
var turns = [...]turn{
	{"incorrect", "correct", true},
	{"untrue", "true", true},
	{"false", "true", true},
	{"wrong", "right", true},
	{"cannot", "can", true},
	{"doesnt", "does", true},
	{"isnt", "is", true},
	{"dont", "do", true},
	{"not", "", true},
	{"except", "", true},
	{"without", "with", false},
	{"never", "always", false},
	{"minimum", "maximum", false},
	{"decrease", "increase", false},
	{"lowest", "highest", false},
	{"smallest", "largest", false},
	{"least", "most", false},
	{"不", "", true},
	{"非", "", true},
	{"无", "", true},
	{"未", "", true},
	{"否", "", true},
	{"勿", "", true},
	{"没", "", true},
	{"错误", "正确", true},
	{"错", "对", true},
	{"禁止", "允许", true},
	{"小", "大", false},
	{"低", "高", false},
	{"降", "升", false},
	{"减", "增", false},
	{"少", "多", false},
	{"短", "长", false},
	{"慢", "快", false},
	{"弱", "强", false},
	{"轻", "重", false},
	{"右", "左", false},
	{"下", "上", false},
	{"后", "前", false},
	{"出", "进", false},
	{"关", "开", false},
	{"负", "正", false},
	{"内", "外", false},
}

// A levelTurn is a turn in letters.
type levelTurn struct {
	word, as []letter
	negates  bool
}

func (a *alphabet) levelTurns() []levelTurn {
	var out []levelTurn
	for _, t := range turns {
		out = append(out, levelTurn{a.learn(t.word), a.learn(t.as), t.negates})
	}
	return out
}

// level returns ls without polarity, and the polarity: entry 0 is the parity of
// its negations, the others count each opposite.
func level(ls []letter, turns []levelTurn) (out []letter, polarity []int) {
	polarity = make([]int, len(turns)+1)
next:
	for i := 0; i < len(ls); {
		for k := range turns {
			w := turns[k].word
			if len(ls)-i < len(w) || !slices.Equal(ls[i:i+len(w)], w) {
				continue
			}
			if turns[k].negates {
				polarity[0] ^= 1
			} else {
				polarity[k+1]++
			}
			out = append(out, turns[k].as...)
			i += len(w)
			continue next
		}
		out = append(out, ls[i])
		i++
	}
	return out, polarity
}

// turned reports whether the stem is negated or turned round: without polarity
// it comes nearer, and the polarity differs.
func (s *Scanner) turned(e *evidence) bool {
	for _, f := range e.pieces {
		if f.piece.kind == optionPart || f.place.dist == 0 {
			continue
		}
		a, pa := level(f.piece.letters, s.ix.turns)
		b, pb := level(e.own(f), s.ix.turns)
		if !slices.Equal(pa, pb) && distance(a, b) < f.place.dist {
			return true
		}
	}
	return false
}
