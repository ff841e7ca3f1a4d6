package cli

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const devItems = `[{"index":0,"question":"Which side light is red?","answer":"A","A":"the port side light","B":"the starboard side light","C":"the sternlight","D":"the masthead light"},
 {"index":1,"question":"一船追越他船时，应给谁让路？","answer":"C","A":"来船","B":"帆船","C":"被追越船"}]`

// The key reaches the server and nothing else: no file, no output, whatever the
// server answers.
func TestEvalKeepsTheKeySecret(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-0123456789"
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   int
	}{
		{"answers", 200, `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"[A]"},"finish_reason":"stop"}]}`, 0},
		{"refused", 401, `{"error":{"message":"bad key ` + key + `"}}`, 4},
		{"bad request", 400, `{"error":{"message":"no such model"}}`, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("Authorization %q", got)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			dir := t.TempDir()
			items := filepath.Join(dir, "dev.json")
			if err := os.WriteFile(items, []byte(devItems), 0o644); err != nil {
				t.Fatal(err)
			}
			host, out, errs := testHost(t, map[string]string{"DRYDOCK_API_KEY": key})
			work := filepath.Join(dir, "w")
			code := Main([]string{
				"eval", "--bench", items, "--model", "m", "--base-url", server.URL + "/v1", "--work-dir", work,
				"--json", "-v", "--log-file", filepath.Join(dir, "log.jsonl"),
			}, host)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, errs)
			}
			if strings.Contains(out.String()+errs.String(), key) {
				t.Errorf("the key is shown:\n%s%s", out, errs)
			}
			err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(p)
				if bytes.Contains(b, []byte(key)) {
					t.Errorf("the key stands in %s", p)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
