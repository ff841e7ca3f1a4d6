package emit

// ReservedColumns lists the names that a trainer (llamafactory, swift, trl,
// axolotl) takes for its own, so that a column of that name changes what is
// trained.
func ReservedColumns(trainer string) []string { return reserved(trainer) }
