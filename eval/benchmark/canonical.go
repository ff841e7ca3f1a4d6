package benchmark

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/drydock-ml/drydock"
)

// AppendCanonical appends the canonical row of an item and a line end:
// {"question": …, "answer": …, "A": …, "B": …, "C": …, "D": …}, written as
// Python's json does, null where there is no option. It says what is asked and
// nothing else, so every file of the same items has the same rows.
func AppendCanonical(dst []byte, it *Item) []byte {
	dst = append(dst, `{"question": `...)
	dst = drydock.AppendJSONString(dst, it.Question.Stem)
	dst = append(dst, `, "answer": `...)
	dst = drydock.AppendJSONString(dst, it.Key())
	for i := range max(4, len(it.Question.Options)) {
		dst = append(dst, `, "`...)
		dst = append(dst, 'A'+byte(i%maxOptions))
		dst = append(dst, `": `...)
		if i < len(it.Question.Options) {
			dst = drydock.AppendJSONString(dst, it.Question.Options[i].Text)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, "}\n"...)
}

// CanonicalHash returns the sha256 of the items' canonical rows in order, 64
// hex digits.
func CanonicalHash(items []Item) string {
	h := sha256.New()
	var buf []byte
	for i := range items {
		buf = AppendCanonical(buf[:0], &items[i])
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// MessageID returns 8 hex digits for the answer to an item, where EvalScope draws
// them at random. They depend on the item alone.
func MessageID(it *Item) string {
	sum := sha256.Sum256(append(AppendCanonical(nil, it), '0')) // the first time it is asked
	return hex.EncodeToString(sum[:4])
}
