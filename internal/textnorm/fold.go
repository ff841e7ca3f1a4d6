// Package textnorm makes one text out of the many ways the same words are
// typed: compatibility forms, width, case, accents, traditional and simplified
// characters, look-alike radicals, punctuation and invisible characters. The
// folds are for comparing, never for showing.
package textnorm

import "unicode/utf8"

// Fold appends the folded form of s to dst. It is the text's letters, digits,
// ideographs and signs with a meaning (＜ ± ° %), and nothing else, except:
//
//   - one space where white space or punctuation stood between two letters or
//     between two digits, so that words and numbers stay apart. None stands
//     beside an ideograph, or between a number and its unit;
//   - a point between digits (1.5), and a minus before a number where nothing
//     that could be a range stands before it.
//
// Invalid UTF-8 counts as punctuation. Fold of a folded text is itself.
func Fold(dst []byte, s string) []byte {
	dst, _ = fold(dst, nil, s, false)
	return dst
}

// Key returns Fold(nil, s) as a string.
func Key(s string) string { return string(Fold(nil, s)) }

// FoldOffsets is [Fold] with the way back: for each byte appended to dst it
// appends to offs the byte offset in s of the code point it came from.
func FoldOffsets(dst []byte, offs []int32, s string) ([]byte, []int32) {
	return fold(dst, offs, s, true)
}

// pending is what stood since the last code point that was written.
type pending struct {
	gap   bool // white space or punctuation
	point bool // exactly one full stop, nothing else
	minus bool // ends in a minus
	at    int  // offset of its first byte
	minAt int
}

func fold(dst []byte, offs []int32, s string, withOffs bool) ([]byte, []int32) {
	f := NewFolder()
	var p pending
	last, wrote := Ignored, false
	put := func(r rune, at int) {
		n := len(dst)
		dst = utf8.AppendRune(dst, r)
		if withOffs {
			for range len(dst) - n {
				offs = append(offs, int32(at))
			}
		}
	}
	emit := func(piece Piece, at int) {
		switch piece.Class {
		case Ignored:
			return
		case Space, Punct:
			if !p.gap {
				p = pending{gap: true, point: piece.Rune == '.', at: at}
			} else {
				p.point = false
			}
			p.minus, p.minAt = piece.Rune == '-', at
			return
		}
		if p.gap {
			switch {
			case piece.Class == Digit && last == Digit && p.point:
				put('.', p.at)
			case piece.Class == Digit && p.minus && last != Digit && last != Letter:
				put('-', p.minAt)
			case wrote && piece.Class == last && (last == Letter || last == Digit):
				put(' ', p.at)
			}
			p = pending{}
		}
		put(piece.Rune, at)
		last, wrote = piece.Class, true
	}
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				emit(Piece{0, Punct}, i)
				i++
				continue
			}
		}
		piece, rest := f.Rune(r)
		emit(piece, i)
		for _, q := range rest {
			emit(q, i)
		}
		i += n
	}
	return dst, offs
}
