package launch

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Secrets are values that must not reach a log: those of environment variables
// whose names say so. It replaces them wherever they stand in a line.
type Secrets struct{ values [][]byte }

// minSecret is the shortest value that is replaced: shorter ones are in any
// text.
const minSecret = 6

var secretVariable = regexp.MustCompile(`(?i)(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)`)

// SecretsOf finds the secrets in NAME=value pairs.
func SecretsOf(environ []string) Secrets {
	var s Secrets
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		value = strings.TrimSpace(value)
		// a variable may hold a file's name; that is no secret and helps in logs
		if len(value) >= minSecret && secretVariable.MatchString(name) && !strings.ContainsAny(value, `/\`) {
			s.values = append(s.values, []byte(value))
		}
	}
	// the longest first, so that one that holds another is replaced whole
	slices.SortFunc(s.values, func(a, b []byte) int { return len(b) - len(a) })
	return s
}

// Redact returns line with every secret replaced. It returns line itself when
// there is none.
func (s Secrets) Redact(line []byte) []byte {
	for _, v := range s.values {
		if bytes.Contains(line, v) {
			line = bytes.ReplaceAll(line, v, []byte("[redacted]"))
		}
	}
	return line
}

var secretValue = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16})\b`)

// looksSecret reports text with the shape of a well-known kind of key.
func looksSecret(s string) bool { return secretValue.MatchString(s) }
