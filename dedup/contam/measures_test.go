package contam

import (
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// indexOf holds single-choice items: stem, answer, options.
func indexOf(t *testing.T, items ...[]string) *Index {
	t.Helper()
	var set []benchmark.Item
	for i, it := range items {
		q := drydock.Question{Kind: drydock.Single, Stem: it[0], Answer: []string{it[1]}}
		for k, o := range it[2:] {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: o})
		}
		set = append(set, benchmark.Item{Index: i, Question: q})
	}
	ix, err := NewIndex(set, benchmark.Ref{Name: "own", Revision: "1"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// verdictCase is a text and what it is of an item.
type verdictCase struct {
	text string
	item int
	want Verdict
}

func checkVerdicts(t *testing.T, ix *Index, cases []verdictCase) {
	t.Helper()
	s := ix.Scanner()
	for _, c := range cases {
		found, err := s.Row(row(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(found, c.item); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// A number in another unit is another number, also where the unit is a sign or a
// word follows it, and in the options; another way to write the unit is none.
func TestUnits(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"浮筒系泊的驳船在风向改变90°时，缆绳的夹角通常变化______。", "A", "很小", "很大", "不定"},
		[]string{"A launch of 12 m in length moored at the pontoon shall carry ______ in the stern locker.", "B", "two anchors", "one grapnel", "no anchor"},
		[]string{"码头照明失电后，应急发电机组应在多长时间内供电？", "A", "不超过15分钟", "不超过30分钟", "不超过45分钟"},
		[]string{"浓度为70%的清洗液用于擦拭舷窗玻璃，擦拭后晾干______即可。", "A", "片刻", "整夜", "一周"},
		[]string{"储藏室内温度高于20℃时应开启______。", "C", "暖气", "舷窗", "风机"},
		[]string{"领航艇的最高航速为30m/s，其回转直径约为______。", "A", "一个艇长", "两个艇长", "三个艇长"},
	)
	tail := map[int]string{
		0: "\nA. 很小\nB. 很大\nC. 不定", 1: "\nA. two anchors\nB. one grapnel\nC. no anchor", 3: "\nA. 片刻\nB. 整夜\nC. 一周",
		4: "\nA. 暖气\nB. 舷窗\nC. 风机", 5: "\nA. 一个艇长\nB. 两个艇长\nC. 三个艇长",
	}
	checkVerdicts(t, ix, []verdictCase{
		{"浮筒系泊的驳船在风向改变90°时，缆绳的夹角通常变化______。" + tail[0], 0, Exact},
		{"浮筒系泊的驳船在风向改变90º 时，缆绳的夹角通常变化______。" + tail[0], 0, Exact},
		{"浮筒系泊的驳船在风向改变90′时，缆绳的夹角通常变化______。" + tail[0], 0, NumericVariant},
		{"浮筒系泊的驳船在风向改变90''时，缆绳的夹角通常变化______。" + tail[0], 0, NumericVariant},
		{"浮筒系泊的驳船在风向改变90%C2%B0时，缆绳的夹角通常变化______。" + tail[0], 0, Exact},
		{"A launch of 12 m in length moored at the pontoon shall carry ______ in the stern locker." + tail[1], 1, Exact},
		{"A launch of 12 meters in length moored at the pontoon shall carry ______ in the stern locker." + tail[1], 1, Near},
		{"A launch of 12 ft in length moored at the pontoon shall carry ______ in the stern locker." + tail[1], 1, NumericVariant},
		{"A launch of 12 km in length moored at the pontoon shall carry ______ in the stern locker.", 1, NumericVariant},
		{"码头照明失电后，应急发电机组应在多长时间内供电？\nA. 不超过15分钟\nB. 不超过30分钟\nC. 不超过45分钟", 2, Exact},
		{"码头照明失电后，应急发电机组应在多长时间内供电？\nA. 不超过15 min\nB. 不超过30 min\nC. 不超过45 min", 2, StemOnly},
		{"码头照明失电后，应急发电机组应在多长时间内供电？\nA. 不超过15小时\nB. 不超过30小时\nC. 不超过45小时", 2, NumericVariant},
		{"浓度为70％的清洗液用于擦拭舷窗玻璃，擦拭后晾干______即可。" + tail[3], 3, Exact},
		{"浓度为70‰的清洗液用于擦拭舷窗玻璃，擦拭后晾干______即可。" + tail[3], 3, NumericVariant},
		{"储藏室内温度高于20 °C时应开启______。" + tail[4], 4, Exact},
		{"储藏室内温度高于20℉时应开启______。" + tail[4], 4, NumericVariant},
		{"领航艇的最高航速为30ft/s，其回转直径约为______。" + tail[5], 5, NumericVariant},
		{"领 航 艇 的 最 高 航 速 为 3 0 m / s ， 其 回 转 直 径 约 为 ______。" + tail[5], 5, Exact},
	})
}

// A negation before or behind an option that fills the blank turns the statement
// round; one that belongs to the option does not.
func TestFilledAndNegated(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"趸船的甲板排水孔在靠泊期间应当______。", "B", "不遮盖", "保持畅通", "全部封堵"},
		[]string{"下列做法中______不属于缆桩检查的内容。", "A", "清点救生衣的数量", "观察焊缝的锈蚀", "测量桩身的倾斜"},
		[]string{"The cleats on a floating pontoon are ______ by the harbour crew.", "A", "inspected every spring", "painted once a decade", "not removed in winter"},
	)
	checkVerdicts(t, ix, []verdictCase{
		{"判断：趸船的甲板排水孔在靠泊期间应当保持畅通。", 0, Near},
		{"判断：趸船的甲板排水孔在靠泊期间应当不保持畅通。", 0, PolarityVariant},
		{"判断：趸船的甲板排水孔在靠泊期间应当不遮盖。", 0, Near},
		{"判断：下列做法中清点救生衣的数量不属于缆桩检查的内容。", 1, Near},
		{"判断：下列做法中清点救生衣的数量属于缆桩检查的内容。", 1, PolarityVariant},
		{"The cleats on a floating pontoon are inspected every spring by the harbour crew.", 2, Near},
		{"The cleats on a floating pontoon are not inspected every spring by the harbour crew.", 2, PolarityVariant},
		{"The cleats on a floating pontoon are not removed in winter by the harbour crew.", 2, Near},
	})
}

// More words that turn a question round.
func TestOpposites(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"趸船系缆桩锈蚀的主要原因是______。", "A", "盐雾", "磨损", "日晒"},
		[]string{"The primary purpose of the pontoon fender is to ______.", "A", "absorb the shock of berthing", "carry the mooring lamps", "mark the edge for swimmers"},
	)
	checkVerdicts(t, ix, []verdictCase{
		{"趸船系缆桩锈蚀的次要原因是______。\nA. 盐雾\nB. 磨损\nC. 日晒", 0, PolarityVariant},
		{"The secondary purpose of the pontoon fender is to ______.\nA. absorb the shock of berthing\nB. carry the mooring lamps\nC. mark the edge for swimmers", 1, PolarityVariant},
	})
}

// What stands before a short stem, and a question mark however it is written.
func TestShortStems(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"Net demurrage is______.", "B", "a loss by fire", "money for time lost in port"},
		[]string{"What should the pontoon watchman do after closing the fire door in a hurry?", "A", "Ring the bell twice", "Leave by the ladder"},
	)
	checkVerdicts(t, ix, []verdictCase{
		{"money for time lost in port -- Net demurrage is______.", 0, Near},
		{"money for time lost in port — Net demurrage is______.", 0, Near},
		{"He says that net demurrage is not easy to claim.", 0, ""},
		{"q=What+should+the+pontoon+watchman+do+after+closing+the+fire+door+in+a+hurry%3F&o=Ring+the+bell+twice%7CLeave+by+the+ladder", 1, Exact},
	})
}
