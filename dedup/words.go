package dedup

import (
	"strings"
	"sync"
)

// What turns a sentence into another fact although hardly a letter changes. The
// words are folded: simplified, lower case.

// exclusive are sets of words of which one stands for another only when
// something else is meant.
var exclusive = [...][]string{
	{"左", "右"},
	{"上", "下"},
	{"前", "后"},
	{"首", "尾"},
	{"艏", "艉"},
	{"内", "外"},
	{"里", "外"},
	{"东", "西", "南", "北"},
	{"大", "小"},
	{"高", "低"},
	{"升", "降"},
	{"增", "减"},
	{"加", "减"},
	{"多", "少"},
	{"长", "短"},
	{"快", "慢"},
	{"强", "弱"},
	{"轻", "重"},
	{"深", "浅"},
	{"远", "近"},
	{"宽", "窄"},
	{"粗", "细"},
	{"厚", "薄"},
	{"新", "旧"},
	{"早", "晚"},
	{"早", "迟"},
	{"硬", "软"},
	{"干", "湿"},
	{"冷", "热"},
	{"进", "出"},
	{"入", "出"},
	{"进", "退"},
	{"来", "去"},
	{"开", "关"},
	{"开", "闭"},
	{"正", "负"},
	{"正", "反"},
	{"正", "误"},
	{"正", "倒"},
	{"对", "错"},
	{"真", "假"},
	{"顺", "逆"},
	{"涨", "落"},
	{"涨", "退"},
	{"满", "空"},
	{"昼", "夜"},
	{"日", "夜"},
	{"同", "异"},
	{"有", "无"},
	{"有", "没"},
	{"是", "否"},
	{"始", "终"},
	{"始", "末"},
	{"主", "副"},
	{"主", "辅"},
	{"吸", "排"},
	{"装", "卸"},
	{"靠", "离"},
	{"横", "纵"},
	{"单", "双"},
	{"公", "私"},
	{"买", "卖"},
	{"阴", "阳"},
	{"迎", "顺"},
	{"静", "动"},
	{"红", "绿", "白", "黄", "蓝", "黑", "橙", "紫"},
	{"春", "夏", "秋", "冬"},
	{"甲", "乙", "丙", "丁", "戊", "己"},
	{"正确", "错误"},
	{"允许", "禁止"},
	{"必须", "可以", "应当", "不得"},
	{"白天", "夜间", "黑夜"},
	{"全部", "部分"},
	{"合格", "失效"},
	{"left", "right"},
	{"port", "starboard"},
	{"bow", "stern"},
	{"forward", "aft", "astern"},
	{"ahead", "astern", "abeam"},
	{"fore", "aft"},
	{"above", "below"},
	{"up", "down"},
	{"upper", "lower"},
	{"over", "under"},
	{"before", "after"},
	{"inside", "outside"},
	{"inner", "outer"},
	{"inboard", "outboard"},
	{"windward", "leeward"},
	{"north", "south", "east", "west"},
	{"northern", "southern", "eastern", "western"},
	{"first", "second", "third", "fourth", "fifth", "last"},
	{"more", "less"},
	{"more", "fewer"},
	{"most", "least"},
	{"maximum", "minimum"},
	{"max", "min"},
	{"highest", "lowest"},
	{"higher", "lower"},
	{"high", "low"},
	{"largest", "smallest"},
	{"larger", "smaller"},
	{"greater", "less", "smaller"},
	{"large", "small"},
	{"long", "short"},
	{"increase", "decrease"},
	{"increases", "decreases"},
	{"increased", "decreased"},
	{"increasing", "decreasing"},
	{"fast", "slow"},
	{"heavy", "light"},
	{"strong", "weak"},
	{"deep", "shallow"},
	{"open", "closed"},
	{"open", "close", "shut"},
	{"on", "off"},
	{"day", "night"},
	{"red", "green", "white", "yellow", "blue", "black", "orange"},
	{"true", "false"},
	{"correct", "incorrect", "wrong"},
	{"right", "wrong"},
	{"yes", "no"},
	{"all", "some", "none", "any", "only"},
	{"always", "never", "sometimes"},
	{"with", "without"},
	{"and", "or"},
	{"shall", "may", "must", "should", "can"},
	{"permitted", "prohibited"},
	{"clockwise", "anticlockwise", "counterclockwise"},
	{"flood", "ebb"},
	{"loading", "discharging"},
	{"load", "discharge"},
	{"suction", "delivery"},
	{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"},
	{"single", "double"},
	{"sail", "power"},
	{"overtaking", "overtaken"},
	{"gaining", "losing"},
	{"fresh", "salt"},
}

// negations turn a sentence round by being there.
var negations = [...]string{
	"不", "非", "无", "未", "否", "勿", "没", "莫", "免", "除", "仅", "只", "禁",
	"not", "no", "never", "none", "nor", "neither", "cannot", "without", "except", "unless", "only", "incorrect", "untrue", "false", "isn", "doesn", "don", "mustn", "shouldn",
}

// fillers are English words whose coming and going changes nothing.
const fillers = " a an the of that which is are was were be been to in for by as it its this these from "

// words indexes the tables above.
type words struct {
	sets   map[string][]int // word → the sets it is in
	turns  map[string]bool
	filler map[string]bool
}

// theWords is built once and read only.
var theWords = sync.OnceValue(newWords)

func newWords() *words {
	w := &words{sets: map[string][]int{}, turns: map[string]bool{}, filler: map[string]bool{}}
	for i, set := range exclusive {
		for _, word := range set {
			w.sets[word] = append(w.sets[word], i)
		}
	}
	for _, word := range negations {
		w.turns[word] = true
	}
	for _, word := range strings.Fields(fillers) {
		w.filler[word] = true
	}
	return w
}

// opposed reports whether a word of a and one of b exclude each other, neither
// standing on both sides.
func (w *words) opposed(a, b []string) bool {
	for _, x := range a {
		sets := w.sets[x]
		if sets == nil || contains(b, x) {
			continue
		}
		for _, y := range b {
			if x == y || contains(a, y) {
				continue
			}
			for _, other := range w.sets[y] {
				for _, set := range sets {
					if set == other {
						return true
					}
				}
			}
		}
	}
	return false
}

// turned reports whether one side is negated more often than the other.
func (w *words) turned(a, b []string) bool {
	n := 0
	for _, x := range a {
		if w.turns[x] {
			n++
		}
	}
	for _, x := range b {
		if w.turns[x] {
			n--
		}
	}
	return n != 0
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
