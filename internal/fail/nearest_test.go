package fail

import (
	"slices"
	"testing"

	"github.com/drydock-ml/drydock/internal/msg"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"min_runs": "min_runes", "mni_runes": "min_runes", "MIN_RUNES": "min_runes", "mode": "mode", "zzz": "", "rte": "rate",
	} {
		if got := Nearest(word, []string{"mode", "min_runes", "rate"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestNearHints(t *testing.T) {
	t.Parallel()
	known := msg.Text{"known: %s", "可用：%s"}
	names := []string{"mode", "rate"}
	for _, c := range []struct {
		e    *Error
		lang msg.Lang
		want []string
	}{
		{New(Config, text, "x").Near("rte", names), msg.En, []string{`did you mean "rate"?`}},
		{New(Config, text, "x").Near("rte", names), msg.Zh, []string{`是否想写 "rate"？`}},
		{New(Config, text, "x").Near("zzz", names), msg.En, nil},
		{New(Config, text, "x").NearOr("rte", names, known), msg.En, []string{`did you mean "rate"?`}},
		{New(Config, text, "x").NearOr("zzz", names, known), msg.En, []string{"known: mode, rate"}},
		{New(Config, text, "x").NearOr("zzz", names, known), msg.Zh, []string{"可用：mode、rate"}},
		{New(Config, text, "x").NearOr("zzz", nil, known), msg.En, nil},
		{New(Config, text, "x").Meant(""), msg.En, nil},
		{New(Config, text, "x").Meant("--model a"), msg.En, []string{"did you mean --model a?"}},
	} {
		if got := c.e.Hints(c.lang); !slices.Equal(got, c.want) {
			t.Errorf("hints %q, want %q", got, c.want)
		}
	}
}
