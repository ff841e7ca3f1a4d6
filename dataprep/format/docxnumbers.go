package format

import (
	"strconv"
	"strings"
)

// formatNumber writes n as a number format of Word does (ECMA-376 Part 1,
// 17.18.59, ST_NumberFormat). A number outside what a format has signs for, and
// a format of a script not listed here, is written in decimal, as Word does.
func formatNumber(n int, format string) string {
	const (
		stems    = "甲乙丙丁戊己庚辛壬癸"
		branches = "子丑寅卯辰巳午未申酉戌亥"
	)
	switch format {
	case "none":
		return ""
	case "upperLetter":
		return letters(n, 'A')
	case "lowerLetter":
		return letters(n, 'a')
	case "upperRoman":
		return roman(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand",
		"japaneseCounting", "koreanCounting":
		return chineseNumber(n, "〇一二三四五六七八九", "十百千", "万")
	case "chineseLegalSimplified":
		return chineseNumber(n, "零壹贰叁肆伍陆柒捌玖", "拾佰仟", "万")
	case "ideographLegalTraditional", "japaneseLegal":
		return chineseNumber(n, "零壹貳參肆伍陸柒捌玖", "拾佰仟", "萬")
	case "ideographDigital", "taiwaneseDigital", "japaneseDigitalTenThousand":
		return digitsIn(n, []rune("〇一二三四五六七八九"))
	case "ideographTraditional":
		return signOf(n, stems)
	case "ideographZodiac":
		return signOf(n, branches)
	case "decimalFullWidth", "decimalFullWidth2":
		return digitsIn(n, []rune("０１２３４５６７８９"))
	case "decimalEnclosedCircle", "decimalEnclosedCircleChinese", "ideographEnclosedCircle":
		return circled(n)
	case "decimalEnclosedParen":
		return enclosed(n, 0x2474)
	case "decimalEnclosedFullstop":
		return enclosed(n, 0x2488)
	case "numberInDash":
		return "- " + strconv.Itoa(n) + " -"
	case "ordinal":
		return strconv.Itoa(n) + ordinalEnd(n)
	}
	return strconv.Itoa(n)
}

// letters counts A … Z, AA, BB … as Word does, not as spreadsheets do.
func letters(n int, first byte) string {
	if n < 1 || n > 26*10 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune(int(first)+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, s := range []struct {
		v int
		s string
	}{
		{1000, "M"},
		{900, "CM"},
		{500, "D"},
		{400, "CD"},
		{100, "C"},
		{90, "XC"},
		{50, "L"},
		{40, "XL"},
		{10, "X"},
		{9, "IX"},
		{5, "V"},
		{4, "IV"},
		{1, "I"},
	} {
		for ; n >= s.v; n -= s.v {
			b.WriteString(s.s)
		}
	}
	return b.String()
}

// chineseNumber counts 一, 十, 十一, 二十, 一百〇一 …, for 0 to 99,999.
func chineseNumber(n int, digits, units, tenThousand string) string {
	d, u := []rune(digits), []rune(units)
	if n < 0 || n > 99_999 {
		return strconv.Itoa(n)
	}
	if n == 0 {
		return string(d[0])
	}
	if n >= 10_000 {
		s := chineseNumber(n/10_000, digits, units, tenThousand) + tenThousand
		if rest := n % 10_000; rest > 0 {
			if rest < 1000 {
				s += string(d[0])
			}
			s += chineseNumber(rest, digits, units, tenThousand)
		}
		return s
	}
	var b strings.Builder
	zero := false
	for i, v := 3, 1000; v > 0; i, v = i-1, v/10 {
		switch q := n / v % 10; {
		case q > 0:
			if zero {
				b.WriteRune(d[0])
			}
			zero = false
			// 10–19 are 十, 十一 …, but 壹拾 in the legal form
			if i != 1 || q != 1 || b.Len() > 0 || u[0] == '拾' {
				b.WriteRune(d[q])
			}
			if i > 0 {
				b.WriteRune(u[i-1])
			}
		case b.Len() > 0 && n%v > 0:
			zero = true
		}
	}
	return b.String()
}

func digitsIn(n int, digits []rune) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return digits[r-'0']
		}
		return r
	}, strconv.Itoa(n))
}

// signOf counts through a series of signs and starts over at its end.
func signOf(n int, signs string) string {
	r := []rune(signs)
	if n < 1 {
		return strconv.Itoa(n)
	}
	return string(r[(n-1)%len(r)])
}

// circled has signs up to 50.
func circled(n int) string {
	switch {
	case n == 0:
		return "⓪"
	case n >= 1 && n <= 20:
		return string(rune(0x2460 + n - 1))
	case n >= 21 && n <= 35:
		return string(rune(0x3251 + n - 21))
	case n >= 36 && n <= 50:
		return string(rune(0x32B1 + n - 36))
	}
	return strconv.Itoa(n)
}

func enclosed(n int, first rune) string {
	if n < 1 || n > 20 {
		return strconv.Itoa(n)
	}
	return string(first + rune(n-1))
}

func ordinalEnd(n int) string {
	if n%100/10 == 1 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}
