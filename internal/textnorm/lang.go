package textnorm

import "unicode/utf8"

// The languages ScriptLang tells apart, as BCP 47 tags.
const (
	Chinese      = "zh"
	English      = "en"
	Mixed        = "mul"
	Undetermined = "und"
)

// A word of Chinese is about this many ideographs.
const hanPerWord = 1.6

// ScriptLang names the language of s by its scripts alone: zh for ideographs,
// en for Latin letters, mul when a reader needs both, und when there is
// neither, or another script (kana, hangul, Cyrillic) has the most letters.
// Acronyms, single letters, units and numbers inside Chinese do not make a
// text mixed.
func ScriptLang(s string) string {
	var c scripts
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		c.add(r)
		i += n
	}
	c.endWord()
	return c.lang()
}

type scripts struct {
	han, latin, other int // code points
	words             int // Latin words that are no acronyms
	run, lower        int // the open Latin word
}

func (c *scripts) add(r rune) {
	switch {
	case r >= 'a' && r <= 'z':
		c.latin++
		c.run++
		c.lower++
		return
	case r >= 'A' && r <= 'Z':
		c.latin++
		c.run++
		return
	case r == '\'' || r == 0x2019 && c.run > 0:
		return
	}
	c.endWord()
	switch {
	case r < 0xAA: // ASCII that is no letter
	case r >= 0x4E00 && r < 0xA000, r >= 0x3400 && r < 0x4DC0, r >= 0x20000 && r < 0x32400, r >= 0xF900 && r < 0xFB00,
		r >= 0x2E80 && r < 0x2FE0:
		c.han++
	case r >= 0xFF21 && r <= 0xFF3A, r >= 0xFF41 && r <= 0xFF5A, r >= 0xC0 && r < 0x250 && r != 0xD7 && r != 0xF7:
		c.latin++
	case r >= 0x3040 && r < 0x3100, r >= 0xAC00 && r < 0xD7B0, r >= 0x370 && r < 0x1E00 && r >= 0x400:
		c.other++
	}
}

// endWord counts the open run as a word unless it looks like an acronym or a
// unit: short and all upper case, or up to three letters.
func (c *scripts) endWord() {
	if c.run > 6 || c.run > 3 && c.lower > 0 {
		c.words++
	}
	c.run, c.lower = 0, 0
}

func (c *scripts) lang() string {
	switch {
	case c.other > c.han && c.other > c.latin:
		return Undetermined
	case c.han == 0 && c.latin == 0:
		return Undetermined
	case c.han == 0:
		return English
	}
	// short words (of, the, in) belong to the long ones beside them
	en, zh := 1.6*float64(c.words), float64(c.han)/hanPerWord
	switch share := zh / (zh + en); {
	case c.words == 0 && c.latin > 20*c.han:
		return English
	case share >= 0.6:
		return Chinese
	case share <= 0.1:
		return English
	}
	return Mixed
}
