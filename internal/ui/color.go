package ui

type sgr string

const (
	bold   sgr = "1"
	faint  sgr = "2"
	red    sgr = "31"
	green  sgr = "32"
	yellow sgr = "33"
)

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
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Bold marks text of the result.
func (t *Terminal) Bold(s string) string { return t.style(t.c.OutTTY, bold, s) }

// Good marks a result as fine.
func (t *Terminal) Good(s string) string { return t.style(t.c.OutTTY, green, s) }

// Bad marks a result as a finding.
func (t *Terminal) Bad(s string) string { return t.style(t.c.OutTTY, red, s) }
