package submission

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

const (
	// minAnswers answers tell a key from luck: with fewer no agreement does.
	minAnswers = 30
	// chance is how often an answer agrees by luck: the share of the commonest
	// letter of a key, with room.
	chance = 0.30
	// luck is the probability below which agreement is none.
	luck = 1e-8
	// answersChunk bytes of a long file are searched at once, of its beginning
	// answersFirst (most files are short), and answersCarry of them again with the
	// next: a run of letters may lie across the border.
	answersChunk = 8 << 20
	answersFirst = 64 << 10
	answersCarry = 64 << 10
)

// gateC05 looks for answers written down: a map from index to letter, a run of
// letters, hashes of the stems, or a letter that is given when nothing else is.
func gateC05(c *check) error {
	if ok, err := c.ready(); !ok {
		return err
	}
	key := newAnswerKey(c.items)
	var files []entry
	for i, e := range c.bundle.entries {
		if c.partOf(e.name) != partResults && c.facts[i].err == nil {
			files = append(files, e)
		}
	}
	results := make([][]answers, len(files))
	err := parallel.InOrder(c.ctx, 0, len(files), func(ctx context.Context, i int) error {
		r, err := files[i].open()
		if err != nil {
			return nil // P03 says so
		}
		defer r.Close()
		results[i] = key.search(ctx, r, isCode(files[i].name))
		return context.Cause(ctx)
	}, func(i int) error {
		for _, a := range results[i] {
			c.answers(files[i].name, &a)
		}
		results[i] = nil
		return nil
	})
	c.passes(msg.Text{"%d {file|files} searched for answers to %d {item|items}", "已在 %d 个文件中查找 %d 道题的答案"}, len(files), len(c.items))
	return err
}

// answers is what looks like a key in a file.
type answers struct {
	kind  string // map, run, hashes, fallback
	line  int
	n, ok int // how many there are, how many agree with the key
	shown string
}

func (c *check) answers(name string, a *answers) {
	f := at(name, a.line)
	switch a.kind {
	case "map":
		c.fails(f.fix(msg.Text{"answers must come from the model: take the map out", "答案须由模型给出：请移除该映射"}),
			msg.Text{"a map from item to letter: %d of %d agree with the key, more than luck gives", "题号到答案的映射：%d / %d 与标准答案一致，超出偶然"}, a.ok, a.n)
	case "run":
		c.fails(f.fix(msg.Text{"answers must come from the model: take the letters out", "答案须由模型给出：请移除这些字母"}),
			msg.Text{"a run of answer letters: %d of %d agree with the key, more than luck gives", "连续的答案字母：%d / %d 与标准答案一致，超出偶然"}, a.ok, a.n)
	case "hashes":
		c.fails(f.fix(msg.Text{"take the table out: it names items without showing them", "请移除该表：它以哈希指代题目"}),
			msg.Text{"hashes of %d {stem|stems} of the benchmark (%s)", "评测集 %d 道题干的哈希（%s）"}, a.n, a.shown)
	case "fallback":
		c.warns(f, msg.Text{"a fixed letter stands in for an answer: %s", "以固定字母代替答案：%s"}, a.shown)
	}
}

// answerKey is the benchmark's answers in the forms a package may hide them in.
type answerKey struct {
	byIndex map[int]byte
	inOrder []byte            // by position; 0: no single letter
	hashes  map[string]hashed // by the first eight hex digits
	chunk   int               // bytes of a file that are searched at once
}

type hashed struct {
	item int
	hex  string
	name string
}

func newAnswerKey(items []benchmark.Item) *answerKey {
	k := &answerKey{byIndex: map[int]byte{}, hashes: map[string]hashed{}, chunk: answersChunk}
	folder := textnorm.NewFolder()
	for i := range items {
		q := &items[i].Question
		var letter byte
		if len(q.Answer) == 1 && len(q.Answer[0]) == 1 {
			letter = q.Answer[0][0]
			k.byIndex[items[i].Index] = letter
		}
		k.inOrder = append(k.inOrder, letter)
		seen := map[string]bool{}
		for _, text := range []string{q.Stem, strings.TrimSpace(q.Stem), plainStem(folder, q.Stem)} {
			if !seen[text] {
				seen[text] = true
				k.addHashes(items[i].Index, text)
			}
		}
	}
	return k
}

// plainStem is the letters of a stem, folded: what is left when somebody takes
// signs and spaces away first.
func plainStem(f textnorm.Folder, stem string) string {
	var b strings.Builder
	for _, r := range stem {
		p, rest := f.Rune(r)
		for _, q := range append([]textnorm.Piece{p}, rest...) {
			if q.Class == textnorm.Han || q.Class == textnorm.Letter || q.Class == textnorm.Digit {
				b.WriteRune(q.Rune)
			}
		}
	}
	return b.String()
}

func (k *answerKey) addHashes(item int, text string) {
	b := []byte(text)
	m, s, l := md5.Sum(b), sha1.Sum(b), sha256.Sum256(b)
	for name, h := range map[string]string{
		"md5": hex.EncodeToString(m[:]), "sha1": hex.EncodeToString(s[:]), "sha256": hex.EncodeToString(l[:]),
		"crc32": fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)),
	} {
		if old, ok := k.hashes[h[:8]]; !ok || cmp.Or(cmp.Compare(h, old.hex), cmp.Compare(name, old.name)) < 0 {
			k.hashes[h[:8]] = hashed{item, h, name}
		}
	}
}

// search looks through a file. A read error ends it: P03 tells of it.
func (k *answerKey) search(ctx context.Context, r io.Reader, code bool) (out []answers) {
	pairs := pairs{of: map[int]byte{}}
	seen := map[string]bool{} // kinds, of which one place is enough
	lines := 0                // before the chunk
	var buf []byte
	size := answersFirst
	for last := false; !last && ctx.Err() == nil; size = min(2*size, k.chunk) {
		buf = slices.Grow(buf, size)
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+size])
		buf, last = buf[:len(buf)+n], err != nil
		if bytes.IndexByte(buf[:min(len(buf), 4<<10)], 0) < 0 { // a map is text
			pairs.read(buf, lines)
		}
		list := []*answers{k.findRun(buf), k.findHashes(buf)}
		if code {
			list = append(list, findFallback(buf))
		}
		for _, a := range list {
			if a != nil && !seen[a.kind] {
				seen[a.kind] = true
				a.line += lines
				out = append(out, *a)
			}
		}
		keep := min(len(buf), answersCarry)
		lines += bytes.Count(buf[:len(buf)-keep], []byte("\n"))
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
	if a := k.findMap(&pairs); a != nil {
		out = append(out, *a)
	}
	return out
}

// tail is the probability that n answers agree ok times or more by luck.
func tail(n, ok int) float64 {
	ln := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	sum := 0.0
	for i := ok; i <= n; i++ {
		sum += math.Exp(ln(n) - ln(i) - ln(n-i) + float64(i)*math.Log(chance) + float64(n-i)*math.Log(1-chance))
	}
	return sum
}

// pairExpr is a number and a letter as maps, tables and lists of them have it:
// "17": "B", 17,B  17 => 'B'  (17, "B")  {"index": 17, "answer": "B"}.
var pairExpr = regexp.MustCompile(`\b(\d{1,6})["'\])]*\s*(?:=>|->|[:=,;\t|]|\s)\s*(?:["']?[A-Za-z_]{2,16}["']?\s*[:=]\s*)?["'(\[]*([A-H])["')\]]*(?:[\s,;|}\])]|$)`)

// pairs are the indexes and letters of a file.
type pairs struct {
	of   map[int]byte
	line int // of the first
}

// read takes up the pairs of a chunk, before which there are so many lines. The
// first letter of an index counts.
func (p *pairs) read(b []byte, lines int) {
	for _, m := range pairExpr.FindAllSubmatchIndex(b, -1) {
		n := 0
		for _, d := range b[m[2]:m[3]] {
			n = n*10 + int(d-'0')
		}
		if len(p.of) == 0 {
			p.line = lines + lineAt(b, m[2])
		}
		if _, twice := p.of[n]; !twice {
			p.of[n] = b[m[4]]
		}
	}
}

// findMap compares pairs with the key; indexes may count from 0 or 1.
func (k *answerKey) findMap(p *pairs) *answers {
	if len(p.of) < minAnswers {
		return nil
	}
	var best *answers
	for _, base := range []int{0, 1} {
		a := answers{kind: "map", line: p.line}
		for _, n := range slices.Sorted(maps.Keys(p.of)) {
			if letter, known := k.byIndex[n-base]; known {
				a.n++
				if letter == p.of[n] {
					a.ok++
				}
			}
		}
		if a.n >= minAnswers && 2*tail(a.n, a.ok) < luck && (best == nil || a.ok > best.ok) {
			best = &a
		}
	}
	return best
}

// findRun reads letters that stand in a row, with nothing but signs between
// them, and tries the key at every offset.
func (k *answerKey) findRun(b []byte) *answers {
	for i := 0; i < len(b); {
		start, letters, end := nextRun(b, i)
		if start < 0 {
			return nil
		}
		if len(letters) >= minAnswers {
			if a := k.align(letters); a != nil {
				a.line = lineAt(b, start)
				return a
			}
		}
		i = max(end, start+1)
	}
	return nil
}

// nextRun returns the next run of single letters from byte i on: ABDC, A,B,D,
// ["A", "B"], one a line.
func nextRun(b []byte, i int) (start int, letters []byte, end int) {
	start = -1
	gap := 0
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 'A' && c <= 'H':
			if start < 0 {
				if i > 0 && isAlnum(b[i-1]) {
					for i+1 < len(b) && isAlnum(b[i+1]) {
						i++
					}
					continue
				}
				start = i
			}
			letters = append(letters, c)
			gap, end = 0, i+1
		case start < 0:
		case isAlnum(c) || c >= 0x80:
			return start, letters, end
		default:
			if gap++; gap > 8 {
				return start, letters, end
			}
		}
	}
	return start, letters, end
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// maxRun letters of a run are compared: more than any key has.
const maxRun = 20_000

// align compares a run with the key at every offset of one against the other.
func (k *answerKey) align(run []byte) *answers {
	run = run[:min(len(run), maxRun)]
	var best *answers
	offsets := len(run) + len(k.inOrder) - 2*minAnswers + 1
	for d := minAnswers - len(run); d <= len(k.inOrder)-minAnswers; d++ {
		a := answers{kind: "run"}
		for i := max(0, -d); i < len(run) && i+d < len(k.inOrder); i++ {
			a.n++
			if run[i] == k.inOrder[i+d] {
				a.ok++
			}
		}
		if a.n < minAnswers || float64(a.ok) <= chance*float64(a.n) || best != nil && a.ok <= best.ok {
			continue
		}
		if tail(a.n, a.ok)*float64(offsets) < luck {
			best = &a
		}
	}
	return best
}

// longHash hex digits are no accident; of shorter ones fewHashes are needed.
const (
	longHash  = 16
	fewHashes = 3
)

// findHashes looks for hashes of stems, also cut short.
func (k *answerKey) findHashes(b []byte) *answers {
	items, long := map[int]bool{}, false
	var first hashed
	where := -1
	for i := 0; i < len(b); {
		if !isHex(b[i]) {
			i++
			continue
		}
		end := i
		for end < len(b) && isHex(b[end]) {
			end++
		}
		if end-i >= 8 && end-i <= 64 {
			word := string(bytes.ToLower(b[i:end]))
			if h, ok := k.hashes[word[:8]]; ok && strings.HasPrefix(h.hex, word) {
				items[h.item] = true
				long = long || len(word) >= longHash
				if where < 0 {
					where, first = i, h
				}
			}
		}
		i = end
	}
	if n := len(items); n >= fewHashes || long {
		return &answers{kind: "hashes", line: lineAt(b, where), n: n, shown: first.name}
	}
	return nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// fallbackExpr is code that gives a fixed letter: return 'A', x or "B", default
// = "C".
var fallbackExpr = regexp.MustCompile(`(?m)(?:\breturn\s+|\bor\s+|\|\|\s*|\?\?\s*|\belse\s+|\b(?:default|fallback)\w*\s*=\s*)["'](\[?[A-H]\]?)["']\s*[;,)]?\s*(?:#.*|//.*)?$`)

func findFallback(b []byte) *answers {
	m := fallbackExpr.FindIndex(b)
	if m == nil {
		return nil
	}
	return &answers{kind: "fallback", line: lineAt(b, m[0]), shown: strings.TrimSpace(string(b[m[0]:m[1]]))}
}

func lineAt(b []byte, i int) int { return bytes.Count(b[:max(i, 0)], []byte("\n")) + 1 }
