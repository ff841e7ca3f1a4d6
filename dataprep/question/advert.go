package question

import (
	"strings"
	"unicode/utf8"
)

// advert recognises a line by which a site or a seller speaks of itself between
// the questions. It must say two things: who, and what to do, as no question does.
func advert(s string) bool {
	if len(s) > 240 || len(s) < 12 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	if s[0] < 0x80 && (s[1] == '.' || s[1] == ')' || s[1] >= 0x80) {
		return false // an option, the commonest line of a bank
	}
	if contact(s) || rightsReserved(s) {
		return true
	}
	web := strings.IndexByte(s, '.') >= 0
	if !web && s[0] < 0x80 && s[len(s)-1] < 0x80 {
		return false // the commonest line of an English bank
	}
	for _, w := range [...]string{"微信公众号", "公众号：", "公众号:", "QQ群", "QQ交流群", "加微信", "微信群", "扫码关注", "扫码", "扫描二维码", "扫一扫", "更多题库", "更多试题", "更多资料", "题库下载", "淘宝店"} {
		if strings.Contains(s, w) && askedOf(s) {
			return true
		}
	}
	if !web {
		return false
	}
	f := strings.ToLower(s)
	if strings.Contains(f, "www.") || strings.Contains(f, "http://") || strings.Contains(f, "https://") || strings.Contains(f, ".com") {
		for _, w := range [...]string{"visit ", "download", "more questions", "free questions", "more free", "subscribe", "register at", "sign up", "powered by", "downloaded from", "provided by", "copyright", "访问", "登录", "下载", "整理", "发布", "网址", "来源", "提供", "版权", "官网", "更多"} {
			if strings.Contains(f, w) {
				return true
			}
		}
	}
	return false
}

// contact recognises a line of nothing but how a seller is reached: QQ群：12345678,
// 微信号：abc_123.
func contact(s string) bool {
	switch r, _ := utf8.DecodeRuneInString(s); r {
	case 'Q', '微', '客', '联', '咨':
	default:
		return false
	}
	for _, w := range [...]string{"QQ交流群", "QQ群号", "QQ群", "QQ", "微信号", "微信群", "微信", "客服微信", "客服QQ", "客服电话", "联系电话", "咨询电话"} {
		rest, ok := strings.CutPrefix(s, w)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, ":： ")
		return len(rest) >= 5 && strings.IndexFunc(rest, func(r rune) bool {
			return !(isDigit(r) || r < 0x80 && (isLatin(byte(r)) || strings.ContainsRune("_- /", r)))
		}) < 0
	}
	return false
}

// rightsReserved recognises the line that forbids copying.
func rightsReserved(s string) bool {
	switch r, _ := utf8.DecodeRuneInString(s); r {
	case '版', '翻', '盗', '侵', '未', 'A', '©':
	default:
		return false
	}
	for _, w := range [...]string{"版权所有", "翻印必究", "盗版必究", "侵权必究", "未经许可", "All rights reserved", "All Rights Reserved"} {
		if strings.HasPrefix(s, w) || strings.HasPrefix(s, "©") && strings.Contains(s, w) {
			return len(s) <= 90 && !hasBlank(s)
		}
	}
	return false
}

// titledPage recognises a running title and its page number on one line: 船员考试
// 题库 … 第 2 页, parted by a gap.
func titledPage(s string, edge bool) bool {
	if !strings.HasSuffix(s, "页") || len(s) > 200 {
		return false
	}
	i := strings.LastIndex(s, "第")
	if i < 0 {
		return false
	}
	if j := strings.LastIndex(s[:i], "第"); j >= 0 && !pageOf(s[i:]) {
		i = j
	}
	head := s[:i]
	gap := len(head) - len(strings.TrimRightFunc(head, isSpace))
	return (gap >= 2 || edge && gap == 1) && pageOf(s[i:])
}

// askedOf reports that a line asks its reader for something.
func askedOf(s string) bool {
	for _, w := range [...]string{"关注", "加", "扫", "搜索", "下载", "进群", "联系", "请", "获取", "欢迎", "点击", "购买"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
