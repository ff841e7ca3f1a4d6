package contam

import "slices"

// A turn is a word that turns a question round, and what stands for it where
// polarity does not count: a negation is left out, two opposites become one.
// Two negations undo each other (不正确, 错误).
type turn struct {
	word, as string
	negates  bool
}

// turns are tried in order, the longer word before the one it contains.
var turns = [...]turn{
	{"incorrect", "correct", true},
	{"untrue", "true", true},
	{"false", "true", true},
	{"wrong", "right", true},
	{"cannot", "can", true},
	{"doesnt", "does", true},
	{"isnt", "is", true},
	{"dont", "do", true},
	{"not", "", true},
	{"except", "", true},
	{"without", "with", false},
	{"never", "always", false},
	{"minimum", "maximum", false},
	{"decrease", "increase", false},
	{"lowest", "highest", false},
	{"smallest", "largest", false},
	{"least", "most", false},
	{"不", "", true},
	{"非", "", true},
	{"无", "", true},
	{"未", "", true},
	{"否", "", true},
	{"勿", "", true},
	{"没", "", true},
	{"错误", "正确", true},
	{"错", "对", true},
	{"禁止", "允许", true},
	{"小", "大", false},
	{"低", "高", false},
	{"降", "升", false},
	{"减", "增", false},
	{"少", "多", false},
	{"短", "长", false},
	{"慢", "快", false},
	{"弱", "强", false},
	{"轻", "重", false},
	{"右", "左", false},
	{"下", "上", false},
	{"后", "前", false},
	{"出", "进", false},
	{"关", "开", false},
	{"负", "正", false},
	{"内", "外", false},
}

// opposites are more words that turn a question round when one stands for the
// other, the item's letters on both sides.
var opposites = [...][2]string{
	{"不得", "可以"},
	{"不得", "可"},
	{"不得", "应"},
	{"不得", "必须"},
	{"不应", "必须"},
	{"不必", "必须"},
	{"不必", "应"},
	{"不能", "可以"},
	{"禁止", "可以"},
	{"禁止", "应"},
	{"不准", "允许"},
	{"有", "无"},
	{"有", "没有"},
	{"相同", "不同"},
	{"相同", "相反"},
	{"同", "异"},
	{"先", "后"},
	{"首", "尾"},
	{"艏", "艉"},
	{"白天", "夜间"},
	{"白天", "夜晚"},
	{"日间", "夜间"},
	{"昼", "夜"},
	{"南", "北"},
	{"东", "西"},
	{"顺", "逆"},
	{"顺", "顶"},
	{"冷", "热"},
	{"干", "湿"},
	{"深", "浅"},
	{"宽", "窄"},
	{"厚", "薄"},
	{"软", "硬"},
	{"新", "旧"},
	{"早", "晚"},
	{"早", "迟"},
	{"松", "紧"},
	{"满", "空"},
	{"装", "卸"},
	{"重载", "空载"},
	{"满载", "压载"},
	{"吸", "排"},
	{"输入", "输出"},
	{"串联", "并联"},
	{"直流", "交流"},
	{"静", "动"},
	{"起", "止"},
	{"最先", "最后"},
	{"至少", "至多"},
	{"至少", "最多"},
	{"最少", "最多"},
	{"以上", "以下"},
	{"主要", "次要"},
	{"首要", "次要"},
	{"直接", "间接"},
	{"手动", "自动"},
	{"人工", "自动"},
	{"全部", "部分"},
	{"完全", "部分"},
	{"所有", "部分"},
	{"单", "双"},
	{"正比", "反比"},
	{"正转", "反转"},
	{"正车", "倒车"},
	{"进车", "倒车"},
	{"前进", "后退"},
	{"开", "闭"},
	{"接通", "断开"},
	{"闭合", "断开"},
	{"通电", "断电"},
	{"充电", "放电"},
	{"吸热", "放热"},
	{"加热", "冷却"},
	{"启动", "停止"},
	{"起动", "停止"},
	{"开始", "结束"},
	{"抛锚", "起锚"},
	{"靠泊", "离泊"},
	{"涨潮", "落潮"},
	{"近", "远"},
	{"迎", "背"},
	{"稀", "浓"},
	{"稀", "稠"},
	{"固定", "活动"},
	{"拉力", "压力"},
	{"受拉", "受压"},
	{"收紧", "放松"},
	{"提前", "滞后"},
	{"提前", "推迟"},
	{"超前", "滞后"},
	{"最好", "最差"},
	{"好", "坏"},
	{"易", "难"},
	{"容易", "不易"},
	{"真", "假"},
	{"强制", "自愿"},
	{"可燃", "不燃"},
	{"易燃", "阻燃"},
	{"故意", "过失"},
	{"出租", "承租"},
	{"买方", "卖方"},
	{"不超过", "超过"},
	{"超过", "少于"},
	{"大于", "小于"},
	{"高于", "低于"},
	{"多于", "少于"},
	{"早于", "晚于"},
	{"优于", "劣于"},
	{"靠近", "远离"},
	{"接近", "远离"},
	{"缩短", "延长"},
	{"缩小", "扩大"},
	{"加速", "减速"},
	{"加快", "减慢"},
	{"加强", "减弱"},
	{"促进", "抑制"},
	{"有利", "不利"},
	{"优点", "缺点"},
	{"让路", "直航"},
	{"追越", "被追越"},
	{"顺时针", "逆时针"},
	{"吸引", "排斥"},
	{"机动", "非机动"},
	{"正常", "异常"},
	{"安全", "危险"},
	{"合格", "不合格"},
	{"充足", "不足"},
	{"过大", "过小"},
	{"上风", "下风"},
	{"主动", "被动"},
	{"内侧", "外侧"},
	{"port", "starboard"},
	{"left", "right"},
	{"before", "after"},
	{"ahead", "astern"},
	{"forward", "aft"},
	{"bow", "stern"},
	{"increase", "decrease"},
	{"increasing", "decreasing"},
	{"high", "low"},
	{"higher", "lower"},
	{"highest", "lowest"},
	{"more", "less"},
	{"most", "least"},
	{"greater", "less"},
	{"greater", "smaller"},
	{"greatest", "least"},
	{"larger", "smaller"},
	{"large", "small"},
	{"above", "below"},
	{"over", "under"},
	{"upper", "lower"},
	{"inside", "outside"},
	{"inner", "outer"},
	{"open", "close"},
	{"opened", "closed"},
	{"start", "stop"},
	{"begin", "end"},
	{"day", "night"},
	{"true", "false"},
	{"correct", "incorrect"},
	{"right", "wrong"},
	{"proper", "improper"},
	{"possible", "impossible"},
	{"necessary", "unnecessary"},
	{"stable", "unstable"},
	{"safe", "unsafe"},
	{"sufficient", "insufficient"},
	{"complete", "incomplete"},
	{"restricted", "unrestricted"},
	{"with", "without"},
	{"always", "never"},
	{"maximum", "minimum"},
	{"first", "last"},
	{"early", "late"},
	{"fast", "slow"},
	{"long", "short"},
	{"hot", "cold"},
	{"wet", "dry"},
	{"loaded", "empty"},
	{"north", "south"},
	{"east", "west"},
	{"clockwise", "anticlockwise"},
	{"clockwise", "counterclockwise"},
	{"ac", "dc"},
	{"input", "output"},
	{"except", "including"},
	{"may", "maynot"},
	{"must", "mustnot"},
	{"shall", "shallnot"},
	{"should", "shouldnot"},
	{"can", "cannot"},
	{"is", "isnot"},
	{"are", "arenot"},
	{"does", "doesnot"},
	{"advantage", "disadvantage"},
	{"prohibited", "permitted"},
	{"allowed", "prohibited"},
	{"required", "forbidden"},
	{"exceed", "fallbelow"},
	{"rise", "fall"},
	{"heavier", "lighter"},
	{"stronger", "weaker"},
	{"deep", "shallow"},
	{"incoming", "outgoing"},
	{"approaching", "leaving"},
	{"primary", "secondary"},
	{"main", "auxiliary"},
	{"major", "minor"},
	{"internal", "external"},
	{"direct", "indirect"},
	{"directly", "indirectly"},
	{"positive", "negative"},
	{"increase", "reduce"},
	{"increases", "decreases"},
	{"increases", "reduces"},
	{"increased", "decreased"},
	{"increased", "reduced"},
	{"raise", "lower"},
	{"raised", "lowered"},
	{"raising", "lowering"},
	{"windward", "leeward"},
	{"weather", "lee"},
	{"upstream", "downstream"},
	{"flood", "ebb"},
	{"top", "bottom"},
	{"front", "rear"},
	{"heavy", "light"},
	{"strong", "weak"},
	{"attract", "repel"},
	{"connected", "disconnected"},
	{"mandatory", "optional"},
	{"temporary", "permanent"},
	{"same", "different"},
	{"same", "opposite"},
	{"best", "worst"},
	{"better", "worse"},
	{"good", "poor"},
	{"good", "bad"},
	{"up", "down"},
	{"on", "off"},
	{"import", "export"},
	{"manual", "automatic"},
	{"manually", "automatically"},
	{"minimize", "maximize"},
	{"accept", "refuse"},
	{"accept", "reject"},
	{"effective", "ineffective"},
	{"enough", "insufficient"},
	{"lead", "lag"},
	{"push", "pull"},
	{"begins", "ends"},
	{"starts", "stops"},
	{"starting", "stopping"},
	{"started", "stopped"},
	{"opening", "closing"},
	{"loading", "discharging"},
	{"loading", "unloading"},
	{"charging", "discharging"},
}

// longestTurn is the most letters a word of turns or opposites has.
const longestTurn = len("counterclockwise")

// opposites returns the pairs of words that turn a question round, those of the
// turns included; a negation pairs with nothing.
func (a *alphabet) opposites() [][2]word {
	var out [][2]word
	for _, t := range turns {
		out = append(out, [2]word{newWord(a.learn(t.word)), newWord(a.learn(t.as))})
	}
	for _, p := range opposites {
		out = append(out, [2]word{newWord(a.learn(p[0])), newWord(a.learn(p[1]))})
	}
	return out
}

// A levelTurn is a turn in letters.
type levelTurn struct {
	word, as []letter
	negates  bool
}

func (a *alphabet) levelTurns() []levelTurn {
	var out []levelTurn
	for _, t := range turns {
		out = append(out, levelTurn{a.learn(t.word), a.learn(t.as), t.negates})
	}
	return out
}

// level appends ls without polarity to out, and returns the polarity: entry 0 is the
// parity of its negations, the others count each opposite.
func level(out, ls []letter, words []levelTurn) (_ []letter, polarity [1 + len(turns)]int) {
next:
	for i := 0; i < len(ls); {
		for k := range words {
			w := words[k].word
			if ls[i] != w[0] || len(ls)-i < len(w) || !slices.Equal(ls[i:i+len(w)], w) {
				continue
			}
			if words[k].negates {
				polarity[0] ^= 1
			} else {
				polarity[k+1]++
			}
			out = append(out, words[k].as...)
			i += len(w)
			continue next
		}
		out = append(out, ls[i])
		i++
	}
	return out, polarity
}

// turned reports whether the stem is negated or turned round: a word stands for
// its opposite, or without polarity the stem comes nearer, and the polarity
// differs.
func (s *Scanner) turned(e *evidence) bool {
	for _, p := range e.spots() {
		item, near := maskOf(p.item), maskOf(e.near(p, longestTurn))
		for i := range s.ix.pairs {
			a, b := &s.ix.pairs[i][0], &s.ix.pairs[i][1]
			if a.mayBeIn(&item) && b.mayBeIn(&near) && e.swapped(p, a.letters, b.letters) ||
				b.mayBeIn(&item) && a.mayBeIn(&near) && e.swapped(p, b.letters, a.letters) {
				return true
			}
		}
	}
	for _, f := range e.pieces {
		if f.piece.kind == optionPart || f.place.dist == 0 {
			continue
		}
		var pa, pb [1 + len(turns)]int
		e.one, pa = level(e.one[:0], f.piece.letters, s.ix.turns)
		e.two, pb = level(e.two[:0], e.own(f), s.ix.turns)
		if pa != pb && distance(e.one, e.two) < f.place.dist {
			return true
		}
	}
	return false
}
