package question

// A Layout is one way to read a part, and how well it fits.
type Layout struct {
	Kind string `json:"kind"` // lines, columns, content, fields
	// Numbers and Options show how question numbers and option labels are
	// printed; empty where none are.
	Numbers string `json:"numbers,omitempty"`
	Options string `json:"options,omitempty"`
}
