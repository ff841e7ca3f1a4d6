package emit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPointerOf(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"row": "", "id": "/id", "messages[0].content": "/messages/0/content", "history[1][0]": "/history/1/0",
		"messages[12]": "/messages/12",
	} {
		if got := pointerOf(field); got != want {
			t.Errorf("pointerOf(%q) = %q, want %q", field, got, want)
		}
	}
	steps := strings.NewReplacer("].", "/", "][", "/", "[", "/", "]", "", ".", "/")
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringOf(rapid.SampledFrom([]rune("[].a船"))).Draw(t, "field")
		if got, want := pointerOf(field), "/"+steps.Replace(field); got != want {
			t.Fatalf("pointerOf(%q) = %q, want %q", field, got, want)
		}
	})
}
