package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestInOrder(t *testing.T) {
	t.Parallel()
	host, _, _ := testHost(t, nil)
	a := newApp(nil, host)
	a.global.Workers = 3
	var worked atomic.Int64
	var order []int
	err := a.inOrder(context.Background(), 20, func(context.Context, int) error {
		worked.Add(1)
		return nil
	}, func(i int) error {
		order = append(order, i)
		return nil
	})
	if err != nil || worked.Load() != 20 || !slices.IsSorted(order) || len(order) != 20 {
		t.Errorf("err %v, worked %d, order %v", err, worked.Load(), order)
	}
	stop := errors.New("stop")
	order = nil
	err = a.inOrder(context.Background(), 20, func(_ context.Context, i int) error {
		if i == 7 {
			return stop
		}
		return nil
	}, func(i int) error {
		order = append(order, i)
		return nil
	})
	if !errors.Is(err, stop) || slices.Contains(order, 7) {
		t.Errorf("err %v after %v", err, order)
	}
}

// A hard link or another spelling of an input is the same file.
func TestKeepInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(in, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "b.jsonl")
	if err := os.Link(in, link); err != nil {
		t.Skip(err)
	}
	for out, refused := range map[string]bool{
		in: true, link: true, filepath.Join(dir, ".", "x", "..", "a.jsonl"): true, filepath.Join(dir, "new.jsonl"): false, "": false, "-": false,
	} {
		err := keepInputs("-o", out, []string{in})
		if (err != nil) != refused || (err != nil && fail.Code(err) != 2) {
			t.Errorf("%q: %v, refused should be %v", out, err, refused)
		}
	}
}

func TestNoInputNeverWaitsForATerminal(t *testing.T) {
	t.Parallel()
	host, _, errs := testHost(t, nil)
	host.InTTY = true
	if code := Main([]string{"score", "-", "--bench", "x", "--no-input"}, host); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	_ = errs
	a := newApp(nil, host)
	a.global.NoInput = true
	if _, err := a.open("-"); fail.Code(err) != 2 {
		t.Errorf("open: %v", err)
	}
}

func TestGithubAnnotation(t *testing.T) {
	t.Parallel()
	got := githubAnnotation("error", finding{File: "a,b:c.yaml", Line: 3, Column: 5, Message: "100% wrong\nreally", Hint: "mend it"})
	want := "::error file=a%2Cb%3Ac.yaml,line=3,col=5::100%25 wrong%0Areally%0Amend it"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Contains(got, "\n") {
		t.Error("a command must be one line")
	}
}

func TestAPIKeyFile(t *testing.T) {
	t.Parallel()
	host, _, _ := testHost(t, map[string]string{"DRYDOCK_API_KEY": "from-env"})
	a := newApp(nil, host)
	dir := t.TempDir()
	for content, want := range map[string]string{"k1\n": "k1", " k2 \r\n": "k2", "": "", "two\nlines\n": ""} {
		name := filepath.Join(dir, "key")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := a.apiKey(name)
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
	if got, err := a.apiKey(""); got != "from-env" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   string
		env    map[string]string
		system string
		want   msg.Lang
	}{
		{"nothing said", "", nil, "", msg.En},
		{"system", "", nil, "zh-CN", msg.Zh},
		{"environment before system", "", map[string]string{"LANG": "en_GB.UTF-8"}, "zh-CN", msg.En},
		{"LC_ALL before LANG", "", map[string]string{"LANG": "en", "LC_ALL": "zh_TW.UTF-8"}, "", msg.Zh},
		{"drydock's own before all", "", map[string]string{"LC_ALL": "en", "DRYDOCK_LANG": "zh"}, "", msg.Zh},
		{"a language drydock does not speak", "", map[string]string{"LANG": "fr_FR"}, "zh", msg.En},
		{"flag", "run --lang zh", map[string]string{"DRYDOCK_LANG": "en"}, "", msg.Zh},
		{"flag with =", "--lang=zh run", nil, "", msg.Zh},
		{"after -- it is no flag", "run -- --lang zh", nil, "", msg.En},
		{"flag without value", "run --lang", nil, "", msg.En},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			host, _, _ := testHost(t, c.env)
			host.Locale = c.system
			if got, _ := prescan(strings.Fields(c.args), host); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
