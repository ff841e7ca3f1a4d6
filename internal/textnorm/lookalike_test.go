package textnorm

import "testing"

func TestLookAlikes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Вrіdgе rеsоurсе": "bridge resource", "ΑΙS ΕΡΙRΒ": "ais epirb", "ʀᴀᴅᴀʀ": "radar", "🅶🅿🆂": "gps", "ᏢᎾ": "pꮎ",
		"Δt=λ": "δt=λ", "Москва": Key("МОСКВА"),
	} {
		if got := Key(in); got != want {
			t.Errorf("%q folds to %q, want %q", in, got, want)
		}
	}
	n := 0
	for from, to := range pairsOf(latinLooks) {
		n++
		if got := Key(string(from)); got != string(to) || to < 'a' || to > 'z' {
			t.Errorf("%q folds to %q, want %q", from, got, to)
		}
	}
	if n < 150 {
		t.Errorf("only %d pairs", n)
	}
}
