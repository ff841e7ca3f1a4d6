package ui

type sgr string

const (
	bold   sgr = "1"
	faint  sgr = "2"
	red    sgr = "31"
	green  sgr = "32"
	yellow sgr = "33"
)

// reset ends a colour.
const reset = "\x1b[0m"

// ColorWanted decides about colour from what the user asked for: --no-color
// and NO_COLOR (any value but the empty one) say no, CLICOLOR_FORCE (any value
// but empty and 0) says yes even on a pipe, TERM=dumb says no; forced reports
// the second case.
func ColorWanted(noColorFlag bool, getenv func(string) string) (wanted, forced bool) {
	if noColorFlag || getenv("NO_COLOR") != "" {
		return false, false
	}
	if f := getenv("CLICOLOR_FORCE"); f != "" && f != "0" {
		return true, true
	}
	return getenv("TERM") != "dumb", false
}

// style marks s when the stream is coloured.
func (t *Terminal) style(tty bool, s sgr, text string) string {
	if !(t.c.Color && tty || t.c.ForceColor) || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + reset
}

// Bold marks text of the result.
func (t *Terminal) Bold(s string) string { return t.style(t.c.OutTTY, bold, s) }

// Good marks a result as fine.
func (t *Terminal) Good(s string) string { return t.style(t.c.OutTTY, green, s) }

// Bad marks a result as a finding.
func (t *Terminal) Bad(s string) string { return t.style(t.c.OutTTY, red, s) }

// Differs marks a stretch of the result that stands on one side of a comparison
// only: by colour, or by the brackets given where there is none.
func (t *Terminal) Differs(text, opening, closing string) string {
	if text == "" || t.c.Color && t.c.OutTTY || t.c.ForceColor {
		return t.style(t.c.OutTTY, yellow, text)
	}
	return opening + text + closing
}
