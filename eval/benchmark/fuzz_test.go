package benchmark_test

import (
	"testing"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

func FuzzParsePack(f *testing.F) {
	f.Add([]byte("schema: drydock.benchmark/1\nname: x\nlike: maritime_bench\n"))
	f.Add([]byte("schema: drydock.benchmark/1\nname: x\nkind: choice\nrule: bracket_first@1\nother_rule: bracket_last@1\nprompt: \"{choices}{question}\"\n"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := benchmark.ParsePack("p.yaml", src, benchmark.ShippedPack)
		if err != nil {
			return
		}
		c, err := benchmark.NewChoice(p)
		if err != nil {
			return
		}
		again, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		q, err := benchmark.ParsePack("p.yaml", again, benchmark.ShippedPack)
		if err != nil {
			t.Fatalf("written pack does not read back: %v\n%s", err, again)
		}
		d, err := benchmark.NewChoice(q)
		if err != nil || d.Fingerprint() != c.Fingerprint() {
			t.Fatalf("written pack is another: %v", err)
		}
	})
}

func FuzzUnprompt(f *testing.F) {
	f.Add(ownPrompt)
	f.Add(ownPrompt + "\nD. x\nE. ")
	f.Add("")
	b := maritime(f)
	f.Fuzz(func(t *testing.T, s string) {
		q, ok := b.Unprompt(s)
		if !ok {
			return
		}
		// what was taken apart goes together again
		if p, err := b.PromptText(&q); err != nil || p != s {
			t.Fatalf("%q became %q, %v", s, p, err)
		}
	})
}
