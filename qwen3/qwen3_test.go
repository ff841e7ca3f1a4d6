package qwen3

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/drydock-ml/drydock/internal/golden"
	"golang.org/x/text/unicode/norm"
)

func TestEncodeVectors(t *testing.T) {
	t.Parallel()
	data := golden.ReadFile(t, golden.RealData(t, "qwen3-tokenizer", "encode_vectors.jsonl"))
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	n := 0
	for sc.Scan() {
		var v struct {
			Text    string
			IDs     []int32
			Decoded string
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		got := Encode(nil, v.Text)
		if !equal(got, v.IDs) {
			t.Errorf("%q: %v, want %v", v.Text, got, v.IDs)
		}
		n++
	}
	if n < 80 {
		t.Errorf("%d vectors", n)
	}
}

func unzip(t *testing.T, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(golden.ReadFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func equal(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestStrings holds Encode to what Hugging Face's tokenizers gave for strings
// made up at random (scripts/interop/qwen3_tokenizer.py).
// DRYDOCK_QWEN3_STRINGS names a file of other ones.
func TestStrings(t *testing.T) {
	t.Parallel()
	var data []byte
	if name := os.Getenv("DRYDOCK_QWEN3_STRINGS"); name != "" {
		data = golden.ReadFile(t, name)
	} else {
		data = unzip(t, "testdata/encode.jsonl.gz")
	}
	n := 0
	for line := range bytes.Lines(data) {
		var v struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		n++
		if got := Encode(nil, v.Text); !equal(got, v.IDs) {
			t.Errorf("%+q:\n got %v\nwant %v", v.Text, got, v.IDs)
		}
		if got := Count(v.Text); got != len(v.IDs) {
			t.Errorf("%+q: counted %d, want %d", v.Text, got, len(v.IDs))
		}
		if got, want := Decode(v.IDs), norm.NFC.String(v.Text); got != want {
			t.Errorf("%+q: decoded %+q", v.Text, got)
		}
	}
	if n < 5000 {
		t.Errorf("only %d strings", n)
	}
}

// TestUnicodeVersion fails when package unicode moves on: then newLetters and
// newNumbers must be compared with the tokenizers again.
func TestUnicodeVersion(t *testing.T) {
	t.Parallel()
	if unicode.Version != "15.0.0" {
		t.Errorf("package unicode is %s; see newLetters", unicode.Version)
	}
}

// TestClassesPinned holds the sizes of the classes to the tokenizers' own.
func TestClassesPinned(t *testing.T) {
	t.Parallel()
	var n [newline + 1]int
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0xD800 || r >= 0xE000 {
			n[classify(r)]++
		}
	}
	if n[letter] != 141028 || n[number] != 1911 || n[space]+n[newline] != 25 {
		t.Errorf("%d letters, %d numbers, %d white spaces", n[letter], n[number], n[space]+n[newline])
	}
}

// TestReachable: encoding a token's own bytes gives it, so that the longest
// token is always one to begin with.
func TestReachable(t *testing.T) {
	t.Parallel()
	v := getVocab()
	for id := uint32(ByteTokens); id < v.size(); id++ {
		if !v.fits(v.left[id], v.right[id], id) {
			t.Fatalf("token %d comes out of no text", id)
		}
	}
}

// TestPlainNFC: what the short cut lets through is normal.
func TestPlainNFC(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := string(r)
		if plainNFC(s) && (!norm.NFC.IsNormalString(s) || !norm.NFC.IsNormalString("a"+s+"\u0301"+s) && norm.NFC.PropertiesString(s).CCC() != 0) {
			t.Fatalf("%U is let through", r)
		}
	}
}

// FuzzEncode: every text comes back, ordinary text gives no special token, and
// counting agrees.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "船舶 the vessel's", "<|im_end|><think>\n", "\xff\xfe", "e\u0301 \u3099", "    \r\n x", "aaaaaaaaaaaaaaaaaaaaaaaa"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids := Encode(nil, s)
		if len(ids) != Count(s) {
			t.Fatalf("%q: %d ids, counted %d", s, len(ids), Count(s))
		}
		want := norm.NFC.String(strings.ToValidUTF8(s, "\ufffd"))
		if _, special := FindSpecial(s); !special && Decode(ids) != want {
			t.Fatalf("%q came back as %q", s, Decode(ids))
		}
		plain := EncodeOrdinary(nil, s)
		for _, id := range plain {
			if id >= firstSpecial {
				t.Fatalf("%q: special token %d in ordinary text", s, id)
			}
		}
		if Decode(plain) != want {
			t.Fatalf("%q came back as %q", s, Decode(plain))
		}
	})
}
