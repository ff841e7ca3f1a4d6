package contam

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/drydock-ml/drydock"
)

// rules names the decision rules; it rises whenever the same settings could
// give another verdict.
const rules = "contam@1"

// Config holds the settings of a check. The zero value of a field means the
// default of [DefaultConfig].
type Config struct {
	// MaxDF drops seeds that stand in more items than this.
	MaxDF int `json:"max_df"`
	// MaxLatinDF is MaxDF for seeds in Latin script: eight letters that many
	// items share (whichoft, ofthefol) stand in any English text.
	MaxLatinDF int `json:"max_latin_df"`
	// StemShare and OptionShare of an item's nats must be hit before it is
	// looked at closely; OptionNats is the least for options alone.
	StemShare   float64 `json:"stem_share"`
	OptionShare float64 `json:"option_share"`
	OptionNats  float64 `json:"option_nats"`
	// StemSame is the similarity from which a stem is the same stem, if it
	// carries at least StemNats.
	StemSame float64 `json:"stem_same"`
	StemNats float64 `json:"stem_nats"`
	// StemWithOptions is enough when OptionsNear of the options are there.
	StemWithOptions float64 `json:"stem_with_options"`
	OptionsNear     float64 `json:"options_near"`
	// StemShown is the similarity from which a look-alike is shown.
	StemShown float64 `json:"stem_shown"`
	// OptionsOnly of the options with at least OptionsOnlyLetters letters are
	// shown without their stem, and are the item when StemWithAllOptions of
	// the stem is there too.
	OptionsOnly        float64 `json:"options_only"`
	OptionsOnlyLetters int     `json:"options_only_letters"`
	StemWithAllOptions float64 `json:"stem_with_all_options"`
	// SourceRatio is how many times longer than the stem with its longest
	// option a record must be for a sentence in it to be a quotation of the
	// same source.
	SourceRatio float64 `json:"source_ratio"`
	// Fail lists the verdicts that fail the check.
	Fail []Verdict `json:"fail"`
}

// DefaultConfig returns the settings whose recall and precision the design note
// quotes.
func DefaultConfig() Config {
	return Config{
		MaxDF: 20, MaxLatinDF: 5,
		StemShare: 0.25, OptionShare: 0.30, OptionNats: 30,
		StemSame: 0.80, StemNats: 18,
		StemWithOptions: 0.50, OptionsNear: 0.60,
		StemShown:   0.65,
		OptionsOnly: 0.75, OptionsOnlyLetters: 40, StemWithAllOptions: 0.35,
		SourceRatio: 2,
		Fail:        []Verdict{Exact, Near, Shuffled, StemOnly},
	}
}

// withDefaults fills the fields that are zero.
func (c Config) withDefaults() Config {
	d := DefaultConfig()
	if c.MaxDF == 0 {
		c.MaxDF = d.MaxDF
	}
	if c.MaxLatinDF == 0 {
		c.MaxLatinDF = d.MaxLatinDF
	}
	for _, f := range [...]struct{ have, def *float64 }{
		{&c.StemShare, &d.StemShare},
		{&c.OptionShare, &d.OptionShare},
		{&c.OptionNats, &d.OptionNats},
		{&c.StemSame, &d.StemSame},
		{&c.StemNats, &d.StemNats},
		{&c.StemWithOptions, &d.StemWithOptions},
		{&c.OptionsNear, &d.OptionsNear},
		{&c.StemShown, &d.StemShown},
		{&c.OptionsOnly, &d.OptionsOnly},
		{&c.StemWithAllOptions, &d.StemWithAllOptions},
		{&c.SourceRatio, &d.SourceRatio},
	} {
		if *f.have == 0 {
			*f.have = *f.def
		}
	}
	if c.OptionsOnlyLetters == 0 {
		c.OptionsOnlyLetters = d.OptionsOnlyLetters
	}
	if c.Fail == nil {
		c.Fail = d.Fail
	}
	return c
}

// Hash names the settings and the rules: "sha256:" and 64 hex digits. Reports
// carry it, so that two reports can be compared only when it is equal.
func (c Config) Hash() string {
	c = c.withDefaults()
	c.Fail = slices.Sorted(slices.Values(c.Fail))
	b, err := drydock.MarshalJSON(struct {
		Rules string `json:"rules"`
		Config
	}{rules, c})
	if err != nil {
		return "sha256:" // numbers that are no numbers; such a Config is refused by NewIndex
	}
	h := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(h[:])
}
