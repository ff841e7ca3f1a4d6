package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdJudge starts a judge and puts its base URL into a variable: judge VARIABLE
// FAULT…. It takes two texts for the same question when both speak of an anchor,
// and for a translation when one of them is Chinese. Faults are denied (the key
// is refused), broken (no answer), chatty (no letter).
func cmdJudge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: judge VARIABLE FAULT…")
	}
	s := httptest.NewServer(judgeHandler(args[1:]))
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL+"/v1")
}

func judgeHandler(faults []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input    []string
			Messages []struct{ Content string }
		}
		_ = json.NewDecoder(r.Body).Decode(&q)
		anchor := func(s string) bool { return strings.Contains(s, "anchor") || strings.Contains(s, "锚") }
		switch {
		case slices.Contains(faults, "denied"):
			http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
		case r.URL.Path == "/v1/embeddings":
			var data []string
			for i, t := range q.Input {
				v := "[0,0,1]"
				switch {
				case anchor(t):
					v = "[1,0,0]"
				case strings.Contains(t, "\nA. "):
					v = "[0,1,0]"
				}
				data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
			}
			fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
		case slices.Contains(faults, "broken"):
			http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		default:
			text := func(name string) string {
				_, t, _ := strings.Cut(q.Messages[1].Content, "<<<"+name+" ")
				t, _, _ = strings.Cut(t, "\n<<<END "+name+" ")
				_, t, _ = strings.Cut(t, ">>>\n")
				return t
			}
			a, b := text("A"), text("B")
			answer := "D"
			switch {
			case slices.Contains(faults, "chatty"):
				answer = "They look alike to me."
			case anchor(a) && anchor(b) && strings.Contains(a, "锚") != strings.Contains(b, "锚"):
				answer = "T"
			case a == b || anchor(a) && anchor(b):
				answer = "S"
			}
			reply, _ := json.Marshal(answer)
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, reply)
		}
	})
}
