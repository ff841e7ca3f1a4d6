package submission

import (
	"bytes"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// a secret is something that must not leave the team's machines. The value
// itself is never kept: only its kind, its place and how it begins.
type secret struct {
	kind  string // api_key, private_key, home_path
	line  int
	shown string
}

// a pattern is tried only where its hint stands, so that the usual text costs a
// few scans for bytes and no expression.
type pattern struct {
	kind string
	hint string
	expr *regexp.Regexp
	code bool // only in code and configuration
}

// patterns are the shapes of keys that services give out, and of paths that name
// a person's machine.
func patterns() []pattern {
	key := func(hint, expr string) pattern {
		return pattern{kind: "api_key", hint: hint, expr: regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(` + expr + `)`)}
	}
	return []pattern{
		key("sk-", `sk-[A-Za-z0-9_-]{20,}`),
		key("hf_", `hf_[A-Za-z0-9]{30,}`),
		key("ghp_", `ghp_[A-Za-z0-9]{36,}`),
		key("gho_", `gho_[A-Za-z0-9]{36,}`),
		key("github_pat_", `github_pat_[A-Za-z0-9_]{40,}`),
		key("glpat-", `glpat-[A-Za-z0-9_-]{20,}`),
		key("AKIA", `AKIA[A-Z0-9]{16}`),
		key("LTAI", `LTAI[A-Za-z0-9]{16,}`),
		key("AKID", `AKID[A-Za-z0-9]{30,}`),
		key("AIza", `AIza[A-Za-z0-9_-]{35}`),
		key("xox", `xox[abprs]-[A-Za-z0-9-]{20,}`),
		key("ms-", `ms-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		{kind: "private_key", hint: "PRIVATE KEY-----", expr: regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)`)},
		{kind: "api_key", hint: "=", code: true, expr: regexp.MustCompile(`(?i)(?:key|secret|token|passwd|password)["']?\s*=\s*["']([A-Za-z0-9+/_.=-]{20,})["']`)},
		{kind: "api_key", hint: ":", code: true, expr: regexp.MustCompile(`(?i)(?:key|secret|token|passwd|password)["']?\s*:\s*["']?([A-Za-z0-9+/_.=-]{20,})["']?`)},
		{kind: "home_path", hint: "/home/", expr: regexp.MustCompile(`(?:^|[^A-Za-z0-9._/-])(/home/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)`)},
		{kind: "home_path", hint: "/Users/", expr: regexp.MustCompile(`(?:^|[^A-Za-z0-9._/-])(/Users/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)`)},
		{kind: "home_path", hint: "/root/", expr: regexp.MustCompile(`(?:^|[^A-Za-z0-9._/-])(/root/[A-Za-z0-9._-]+)`)},
		{kind: "home_path", hint: `\Users\`, expr: regexp.MustCompile(`([A-Za-z]:\\{1,2}Users\\{1,2}[^\\"'\s]+)`)},
	}
}

// findSecrets looks through a chunk of whole lines; first is the number of its
// first line.
func findSecrets(b []byte, first int, code bool) []secret {
	var out []secret
	for _, p := range secretPatterns() {
		if p.code && !code || !bytes.Contains(b, []byte(p.hint)) {
			continue
		}
		line := first
		for l := range bytes.Lines(b) {
			if bytes.Contains(l, []byte(p.hint)) {
				for _, m := range p.expr.FindAllSubmatch(l, -1) {
					value := string(m[1])
					if p.kind == "api_key" && !looksRandom(value) {
						continue
					}
					out = append(out, secret{p.kind, line, reveal(p.kind, value)})
				}
			}
			line++
		}
	}
	slices.SortStableFunc(out, func(a, b secret) int { return a.line - b.line })
	return slices.CompactFunc(out, func(a, b secret) bool { return a.kind == b.kind && a.line == b.line })
}

// secretPatterns are compiled once, when first asked for.
var secretPatterns = sync.OnceValue(patterns)

// reveal shows enough of a value to find it and too little to use it.
func reveal(kind, value string) string {
	if kind == "home_path" || kind == "private_key" {
		return value
	}
	return value[:min(6, len(value))] + "…"
}

// looksRandom tells a key from a placeholder, a word or a path: letters and
// digits mixed, and spread widely.
func looksRandom(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{"xxxx", "your", "example", "placeholder", "0000", "1234567890abcdef"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(low, "abcdefghijklmnopqrstuvwxyz") &&
		!isHexDigest(s) && entropy(s) > 3.2
}

// isHexDigest lets checksums pass: a key of 32, 40 or 64 lower-case hex digits
// cannot be told from one.
func isHexDigest(s string) bool {
	if len(s) != 32 && len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// entropy is in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// strayFile names what has no place in a package.
func strayFile(name string) (what string, stray bool) {
	for part := range strings.SplitSeq(name, "/") {
		switch strings.ToLower(part) {
		case ".git", ".svn", ".hg", "__pycache__", ".ds_store", "thumbs.db", "__macosx", ".ipynb_checkpoints", ".idea", ".vscode", ".venv", "node_modules":
			return part, true
		}
	}
	base := strings.ToLower(path.Base(name))
	if base == ".env" || (strings.HasPrefix(base, ".env.") && base != ".env.example") || base == "id_rsa" || base == "id_ed25519" || base == ".netrc" || strings.HasSuffix(base, ".pem") {
		return path.Base(name), true
	}
	return "", false
}
