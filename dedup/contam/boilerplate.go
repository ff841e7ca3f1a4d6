package contam

// phrases are what questions of any bank say; a seed of one carries next to no
// surprise. Weights are shares of questions, roughly.
var phrases = [...]string{
	"下列说法正确的是", "下列说法不正确的是", "下列说法错误的是", "以下说法正确的是", "以下说法不正确的是", "以下说法错误的是",
	"下列叙述正确的是", "下列叙述中不正确的是", "下列各项中正确的是", "下列哪项是正确的", "下列哪项不正确", "下列哪一项是错误的",
	"下列哪种说法是正确的", "以下哪项不是", "以下哪项正确", "下列不属于", "下列属于", "不包括以下哪项", "应采取的措施是", "主要原因是",
	"正确的是", "错误的是", "不正确的是", "说法正确的有", "属于的是", "以上都对", "以上都不对", "以上都是", "以上均可", "以上答案都正确",
	"请回答单选题", "判断正误", "请给出选项", "请选择正确答案", "单项选择题", "答案", "解析", "题目", "选项",
	"which of the following is correct", "which of the following is not correct", "which of the following statements is true",
	"which of the following statement is incorrect", "which statement is true", "which one of the following", "all of the above",
	"none of the above", "choose the correct answer", "is not true about", "according to the passage",
}

const phraseShare = 0.2

// boilerplate returns the share of neutral text that has each seed.
func (a *alphabet) boilerplate() map[uint64]float64 {
	out := map[uint64]float64{}
	for _, p := range phrases {
		var s stream
		a.feed(&s, []byte(p))
		s.eachSeed(func(key uint64, _ int) { out[key] = phraseShare })
	}
	return out
}
