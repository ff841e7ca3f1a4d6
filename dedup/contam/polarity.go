package contam

import "slices"

// A turn is a word that turns a question round, and what stands for it where
// polarity does not count: a negation is left out, two opposites become one.
type turn struct{ word, as string }

// turns are tried in order, the longer word before the one it contains.
var turns = [...]turn{
	{"incorrect", "correct"},
	{"untrue", "true"},
	{"false", "true"},
	{"wrong", "right"},
	{"cannot", "can"},
	{"doesnt", "does"},
	{"isnt", "is"},
	{"dont", "do"},
	{"not", ""},
	{"except", ""},
	{"without", "with"},
	{"never", "always"},
	{"minimum", "maximum"},
	{"decrease", "increase"},
	{"lowest", "highest"},
	{"smallest", "largest"},
	{"least", "most"},
	{"不", ""}, {"非", ""}, {"无", ""}, {"未", ""}, {"否", ""}, {"勿", ""}, {"没", ""}, {"禁止", "允许"},
	{"错", "正"}, {"误", "确"},
	{"小", "大"}, {"低", "高"}, {"降", "升"}, {"减", "增"}, {"少", "多"}, {"短", "长"}, {"慢", "快"}, {"弱", "强"},
	{"轻", "重"}, {"右", "左"}, {"下", "上"}, {"后", "前"}, {"出", "进"}, {"关", "开"}, {"负", "正"}, {"内", "外"},
}

// A levelled turn is a turn in letters.
type levelTurn struct{ word, as []letter }

func (a *alphabet) levelTurns() []levelTurn {
	var out []levelTurn
	for _, t := range turns {
		out = append(out, levelTurn{a.fold(t.word), a.fold(t.as)})
	}
	return out
}

// level returns ls without polarity, and how often each turn stood in it.
func level(ls []letter, turns []levelTurn) (out []letter, count []int) {
	count = make([]int, len(turns))
next:
	for i := 0; i < len(ls); {
		for k := range turns {
			w := turns[k].word
			if len(ls)-i >= len(w) && slices.Equal(ls[i:i+len(w)], w) {
				count[k]++
				out = append(out, turns[k].as...)
				i += len(w)
				continue next
			}
		}
		out = append(out, ls[i])
		i++
	}
	return out, count
}

// turned reports whether the stem is negated or turned round: without polarity
// it comes nearer, and the words of polarity differ.
func (s *Scanner) turned(e *evidence) bool {
	for _, f := range e.pieces {
		if f.piece.kind == optionPart || f.place.dist == 0 {
			continue
		}
		text := e.window[f.place.start:f.place.end]
		a, na := level(f.piece.letters, s.ix.turns)
		b, nb := level(text, s.ix.turns)
		if len(a) == 0 || len(a) > maxPiece || slices.Equal(na, nb) {
			continue
		}
		if d, _ := s.m.search(a, b); d < f.place.dist {
			return true
		}
	}
	return false
}
