package contam

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// rules names the decision rules; it rises whenever the same settings could
// give another verdict.
const rules = "contam@3"

// Config holds the settings of a check. The zero value of a field means the
// default of [DefaultConfig].
type Config struct {
	// MaxDF drops seeds that stand in more items than this.
	MaxDF int `json:"max_df" yaml:"max_df" help:"Seeds that more items share are dropped." zh:"被更多题目共有的种子将被舍弃。"`
	// MaxLatinDF is MaxDF for seeds in Latin script: eight letters that many
	// items share (whichoft, ofthefol) stand in any English text.
	MaxLatinDF int `json:"max_latin_df" yaml:"max_latin_df" help:"The same for seeds in Latin script." zh:"拉丁字母种子的同一上限。"`
	// Thresholds are those of every benchmark that has none of its own.
	Thresholds
	// Benchmarks holds thresholds by name of a benchmark; what is zero in them is
	// as in Thresholds.
	Benchmarks map[string]Thresholds `json:"benchmarks,omitempty" yaml:"benchmarks" help:"Other thresholds for single benchmarks, by name." zh:"按评测集名称单独设置的阈值。"`
}

// Thresholds say from where on a match is what.
type Thresholds struct {
	// StemShare and OptionShare of an item's nats must be hit before it is
	// looked at closely; OptionNats is the least for options alone.
	StemShare   float64 `json:"stem_share" yaml:"stem_share" help:"Share of a stem's weight that must be hit before it is compared." zh:"题干权重命中达到此比例才作比对。"`
	OptionShare float64 `json:"option_share" yaml:"option_share" help:"The same for the options." zh:"选项的同一比例。"`
	OptionNats  float64 `json:"option_nats" yaml:"option_nats" help:"Least weight of options alone, in nats." zh:"仅凭选项时的最小权重（nat）。"`
	// StemSame is the similarity from which a stem is the same stem, if it
	// carries at least StemNats.
	StemSame float64 `json:"stem_same" yaml:"stem_same" help:"Similarity from which a stem is the same stem." zh:"题干视为相同的相似度。"`
	StemNats float64 `json:"stem_nats" yaml:"stem_nats" help:"Least weight of such a stem, in nats." zh:"此类题干的最小权重（nat）。"`
	// StemWithOptions is enough when OptionsNear of the options are there.
	StemWithOptions float64 `json:"stem_with_options" yaml:"stem_with_options" help:"Similarity that is enough together with options_near of the options." zh:"选项达到 options_near 时题干所需的相似度。"`
	OptionsNear     float64 `json:"options_near" yaml:"options_near" help:"Share of the options that counts as the options." zh:"视为含有选项的比例。"`
	// StemShown is the similarity from which a look-alike is shown.
	StemShown float64 `json:"stem_shown" yaml:"stem_shown" help:"Similarity from which a look-alike is shown." zh:"相似题目开始显示的相似度。"`
	// OptionsOnly of the options with at least OptionsOnlyLetters letters are
	// shown without their stem, and are the item when StemWithAllOptions of
	// the stem is there too.
	OptionsOnly        float64 `json:"options_only" yaml:"options_only" help:"Share of the options that is shown without their stem." zh:"无题干时显示所需的选项比例。"`
	OptionsOnlyLetters int     `json:"options_only_letters" yaml:"options_only_letters" help:"Least letters of such options." zh:"此类选项的最少字数。"`
	StemWithAllOptions float64 `json:"stem_with_all_options" yaml:"stem_with_all_options" help:"Similarity that is enough with nearly all options." zh:"选项几乎齐全时题干所需的相似度。"`
	// SourceRatio is how many times longer than the stem with its longest
	// option a record must be for a sentence in it to be a quotation of the
	// same source.
	SourceRatio float64 `json:"source_ratio" yaml:"source_ratio" help:"How many times longer than the item a record is that quotes a source." zh:"引用同一来源的记录至少为题目长度的倍数。"`
	// Least holds, by verdict, the least score with which a finding is reported.
	// A verdict that is not there has none.
	Least map[string]float64 `json:"least,omitempty" yaml:"least" help:"Least score of a finding, by verdict; weaker ones are not reported." zh:"按判定设置的最低得分；更低的不予报告。"`
	// Fail lists the verdicts that fail the check.
	Fail []Verdict `json:"fail" yaml:"fail" help:"Verdicts that fail the check." zh:"判为不通过的判定。"`
}

// DefaultConfig returns the settings whose recall and precision the design note
// quotes.
func DefaultConfig() Config {
	return Config{MaxDF: 20, MaxLatinDF: 5, Thresholds: Thresholds{
		StemShare: 0.25, OptionShare: 0.30, OptionNats: 30,
		StemSame: 0.80, StemNats: 18,
		StemWithOptions: 0.50, OptionsNear: 0.60,
		StemShown:   0.65,
		OptionsOnly: 0.75, OptionsOnlyLetters: 40, StemWithAllOptions: 0.35,
		SourceRatio: 2,
		Fail:        []Verdict{Exact, Near, Shuffled, StemOnly},
	}}
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
	c.Thresholds = c.Thresholds.or(&d.Thresholds)
	return c
}

// For returns the thresholds of one benchmark.
func (c Config) For(benchmark string) Thresholds {
	c = c.withDefaults()
	return c.Benchmarks[benchmark].or(&c.Thresholds)
}

// or fills what is zero from d.
func (t Thresholds) or(d *Thresholds) Thresholds {
	from := d.numbers()
	for i, n := range t.numbers() {
		if *n.value == 0 {
			*n.value = *from[i].value
		}
	}
	if t.OptionsOnlyLetters == 0 {
		t.OptionsOnlyLetters = d.OptionsOnlyLetters
	}
	if t.Least == nil {
		t.Least = d.Least
	}
	if t.Fail == nil {
		t.Fail = d.Fail
	}
	return t
}

// A number is a threshold by its name in files.
type number struct {
	name  string
	value *float64
	share bool // of something: above 0 and up to 1
}

// numbers lists the thresholds that are no counts.
func (t *Thresholds) numbers() []number {
	return []number{
		{"stem_share", &t.StemShare, true},
		{"option_share", &t.OptionShare, true},
		{"option_nats", &t.OptionNats, false},
		{"stem_same", &t.StemSame, true},
		{"stem_nats", &t.StemNats, false},
		{"stem_with_options", &t.StemWithOptions, true},
		{"options_near", &t.OptionsNear, true},
		{"stem_shown", &t.StemShown, true},
		{"options_only", &t.OptionsOnly, true},
		{"stem_with_all_options", &t.StemWithAllOptions, true},
		{"source_ratio", &t.SourceRatio, false},
	}
}

// Check returns an error of kind config for settings that no check can have.
// NewIndex calls it.
func (c Config) Check() error {
	c = c.withDefaults()
	if err := c.Thresholds.check(); err != nil {
		return err
	}
	if c.MaxDF < 0 || c.MaxLatinDF < 0 {
		return fail.New(fail.Config, msg.Text{"max_df and max_latin_df are 1 or more", "max_df 与 max_latin_df 不小于 1"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Benchmarks)) {
		if err := c.Benchmarks[name].or(&c.Thresholds).check(); err != nil {
			return err
		}
	}
	return nil
}

func (t Thresholds) check() error {
	for _, n := range t.numbers() {
		switch v := *n.value; {
		case n.share && !(v > 0 && v <= 1):
			return fail.New(fail.Config, msg.Text{"%s is a share above 0 and up to 1, not %v", "%s 应大于 0 且不超过 1，不能为 %v"}, n.name, v)
		case !(v >= 0 && v < 1e9):
			return fail.New(fail.Config, msg.Text{"%s is 0 or more, not %v", "%s 不小于 0，不能为 %v"}, n.name, v)
		}
	}
	if t.OptionsOnlyLetters < 0 {
		return fail.New(fail.Config, msg.Text{"%s is 0 or more, not %v", "%s 不小于 0，不能为 %v"}, "options_only_letters", t.OptionsOnlyLetters)
	}
	names := slices.Clone(t.Fail)
	for _, name := range slices.Sorted(maps.Keys(t.Least)) {
		names = append(names, Verdict(name))
		if v := t.Least[name]; !(v >= 0 && v <= 1) {
			return fail.New(fail.Config, msg.Text{"a least score lies between 0 and 1; that of %s is %v", "最低得分应在 0 与 1 之间；%s 为 %v"}, name, v)
		}
	}
	for _, v := range names {
		if !slices.Contains(Verdicts(), v) {
			return fail.New(fail.Config, msg.Text{"unknown contamination verdict %q", "未知的污染判定 %q"}, string(v)).
				Hint(msg.Text{"the verdicts are %s", "可用的判定：%s"}, verdictList())
		}
	}
	return nil
}

func verdictList() msg.List {
	var names msg.List
	for _, v := range Verdicts() {
		names = append(names, string(v))
	}
	return names
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
