package question

import (
	"html"
	"strings"
)

// untag takes HTML tags and entities out of a text that an export of a quiz site
// carries in its fields. A "<" that opens no tag stays.
func untag(s string) string {
	if strings.IndexByte(s, '<') >= 0 {
		s = cutTags(s)
	}
	if i := strings.IndexByte(s, '&'); i >= 0 && strings.IndexByte(s[i:], ';') > 0 {
		s = strings.ReplaceAll(html.UnescapeString(s), "\u00a0", " ")
	}
	return s
}

func cutTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		name, end := tagAt(s[i:])
		if end == 0 {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i])
		switch name {
		case "br", "p", "div", "li", "tr":
			b.WriteByte('\n')
		}
		s = s[i+end:]
	}
	b.WriteString(s)
	return b.String()
}

// tagAt reads the tag that s begins with; end is 0 when it is none that exports
// carry.
func tagAt(s string) (name string, end int) {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	j := i
	for j < len(s) && (isLatin(s[j]) || s[j] >= '1' && s[j] <= '6') {
		j++
	}
	name = strings.ToLower(s[i:j])
	switch name {
	case "p", "br", "div", "span", "font", "b", "strong", "i", "em", "u", "s", "sub", "sup", "a", "ul", "ol", "li", "table", "tbody", "tr", "td", "th",
		"h1", "h2", "h3", "h4", "h5", "h6", "details", "summary", "center", "small", "big", "label", "mark":
	default:
		return "", 0
	}
	close := strings.IndexByte(s, '>')
	if close < 0 || strings.IndexByte(s[1:close], '<') >= 0 {
		return "", 0
	}
	switch rest := s[j:close]; {
	case rest == "", strings.Trim(rest, " /") == "":
	case rest[0] == ' ' && strings.IndexByte(rest, '=') > 0:
	default:
		return "", 0 // a<b and c>d
	}
	return name, close + 1
}
