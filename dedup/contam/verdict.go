package contam

// A Verdict says what a match is.
type Verdict string

// The verdicts, from the worst down. Only the first four fail a check by
// default.
const (
	Exact           Verdict = "exact"            // stem and options, in order, letter by letter
	Near            Verdict = "near"             // the same question with small changes
	Shuffled        Verdict = "shuffled"         // the same question, options or statements in another order
	StemOnly        Verdict = "stem_only"        // the stem without its options
	OptionsOnly     Verdict = "options_only"     // the options under another stem
	NumericVariant  Verdict = "numeric_variant"  // the same question with other numbers
	PolarityVariant Verdict = "polarity_variant" // the same question negated or turned round
	Variant         Verdict = "variant"          // a question made from it: other options, conditions, statements
	SharedMaterial  Verdict = "shared_material"  // another question about the same text
	SourceOverlap   Verdict = "source_overlap"   // a sentence of a source the item quotes, too
	Boilerplate     Verdict = "boilerplate"      // words any question has
	// What only a model can say; see dedup/contam/judge.
	Paraphrase  Verdict = "paraphrase"  // the same question in other words
	Translation Verdict = "translation" // the same question in another language
)

// Verdicts returns all of them in the order above.
func Verdicts() []Verdict {
	return []Verdict{
		Exact, Near, Shuffled, StemOnly, OptionsOnly, NumericVariant, PolarityVariant, Variant, SharedMaterial,
		SourceOverlap, Boilerplate, Paraphrase, Translation,
	}
}

// variant reports whether v says that a question was made from the item.
func (v Verdict) variant() bool {
	return v == NumericVariant || v == PolarityVariant || v == Variant
}
