package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// Words of the trade, for texts that share their vocabulary and little else.
var (
	zhWords = strings.Fields(`船舶 航行 值班 驾驶 轮机 甲板 货舱 压载 锚泊 靠泊 引航 拖带 瞭望 雷达 罗经 海图 航道 浮标 灯塔 潮汐 洋流 风浪 气压 能见 避让 追越 交叉 对遇
 号灯 号型 声号 信号 通信 电台 救生 消防 堵漏 演习 应急 弃船 落水 搜救 油污 垃圾 排放 记录 检查 证书 船级 检验 吨位 吃水 干舷 稳性 强度 绑扎 散货 集装 危险 冷藏 液货 惰气 洗舱
 主机 辅机 锅炉 舵机 锚机 绞缆 起货 水泵 滤器 阀门 管路 轴系 螺旋 燃油 滑油 冷却 增压 喷油 气缸 活塞 曲轴 轴承 温度 压力 转速 负荷 报警 配电 发电 蓄电 绝缘 接地 电缆 照明
 船长 船员 水手 机工 管轮 公司 港口 代理 海关 检疫 合同 保险 提单 租约 运费 滞期 索赔 仲裁 条款 公约 规则 附则 修正 生效 缔约 主管 机关 授权 委托 审核 体系 缺陷 滞留 申诉`)
	zhGlue  = strings.Fields("的 和 在 应 对 与 及 时 需 按 由 将 可 经 并 后的 期间 之中 以及 根据 要求 进行 采取 保持 规定")
	enWords = strings.Fields(`vessel cargo ballast anchor mooring pilot towing lookout radar compass chart channel buoy lighthouse tide current wave pressure visibility whistle signal distress lifeboat raft drill emergency
 pollution garbage discharge record inspection certificate survey tonnage draught freeboard stability strength lashing container dangerous refrigerated tanker inert engine boiler rudder windlass winch crane pump filter valve
 pipeline shaft propeller lubricating cooling turbocharger injector cylinder piston crankshaft bearing temperature speed alarm switchboard generator battery insulation earthing lighting master officer rating company harbour
 agent customs quarantine contract insurance charter freight demurrage claim arbitration clause convention regulation annex amendment administration authority management audit deficiency detention approach monitor maintain`)
	enGlue = strings.Fields("the of to in for by a that which is are be from this")
)

// writer makes texts from a seed.
type writer struct{ *rand.Rand }

func newWriter(seed uint64) writer { return writer{rand.New(rand.NewPCG(seed, 5))} }

// zh writes about n letters.
func (w writer) zh(n int) string {
	var b strings.Builder
	for k, letters := 0, 0; letters < n; k++ {
		s := zhWords[w.IntN(len(zhWords))]
		if k%3 == 2 {
			s += zhGlue[w.IntN(len(zhGlue))]
		}
		letters += len(s) / 3
		b.WriteString(s)
		if k%9 == 8 {
			b.WriteString("，")
		}
	}
	return b.String() + "。"
}

// en writes about n letters.
func (w writer) en(n int) string {
	var words []string
	for letters := 0; letters < n; {
		s := enWords[w.IntN(len(enWords))]
		if w.IntN(3) == 0 {
			s = enGlue[w.IntN(len(enGlue))]
		}
		letters += len(s) + 1
		words = append(words, s)
	}
	return strings.Join(words, " ") + "."
}

// question is a question of its own.
func (w writer) question(lang string) *drydock.Question {
	write, stem, option := w.zh, 24+w.IntN(20), 8
	if lang == "en" {
		write, stem, option = w.en, 70+w.IntN(60), 30
	}
	q := &drydock.Question{Kind: drydock.Single, Stem: write(stem), Answer: []string{string(rune('A' + w.IntN(4)))}}
	for i := range 4 {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: write(4 + w.IntN(option))})
	}
	return q
}

// noise damages n letters: one becomes another, is lost or doubled. Letters that
// decide (numbers, opposites, negations) are left alone.
func (w writer) noise(s string, n int) string {
	r := []rune(s)
	for range n {
		i := w.IntN(len(r))
		if r[i] == ' ' || strings.ContainsRune(deciding, r[i]) {
			continue
		}
		switch w.IntN(3) {
		case 0:
			r = slices.Delete(r, i, i+1)
		case 1:
			r = slices.Insert(r, i, r[i])
		case 2:
			if r[i] < 0x80 {
				r[i] = rune('a' + w.IntN(26))
			} else {
				r[i] = []rune("己已末土士汔航沿治冶洁渔演湿滩")[w.IntN(15)]
			}
		}
		if len(r) < 4 {
			break
		}
	}
	return string(r)
}

const deciding = "0123456789左右上下前后大小高低不非无未否没除仅只有是正开关进出主副"

// An edit turns a text into one that says the same.
type edit struct {
	name string
	do   func(w writer, s string) string
}

func letters(s string) int { return len([]rune(s)) }

var edits = []edit{
	{"spacing and signs", func(w writer, s string) string {
		return strings.NewReplacer("，", " ", "。", "！", " ", "  ").Replace(s)
	}},
	{"one letter", func(w writer, s string) string { return w.noise(s, 1) }},
	{"2 % damaged", func(w writer, s string) string { return w.noise(s, max(1, letters(s)/50)) }},
	{"5 % damaged", func(w writer, s string) string { return w.noise(s, max(1, letters(s)/20)) }},
	{"a word put in", func(w writer, s string) string { return insertWord(w, s) }},
	{"a word left out", func(w writer, s string) string {
		r := []rune(s)
		if strings.Contains(s, " ") {
			f := strings.Fields(s)
			i := w.IntN(len(f))
			return strings.Join(slices.Delete(f, i, i+1), " ")
		}
		i := w.IntN(len(r) - 2)
		return string(slices.Delete(r, i, i+2))
	}},
}

func insertWord(w writer, s string) string {
	if strings.Contains(s, " ") {
		f := strings.Fields(s)
		return strings.Join(slices.Insert(f, w.IntN(len(f)), enWords[w.IntN(len(enWords))]), " ")
	}
	r := []rune(s)
	return string(slices.Insert(r, w.IntN(len(r)), []rune(zhWords[w.IntN(len(zhWords))])...))
}

// A twist turns a text into another fact: the two must both stay.
type twist struct {
	name   string
	zh, en [2]string // a clause of its own and its twin
}

var twists = []twist{
	{"number", [2]string{"间距不小于1506米", "间距不小于1507米"}, [2]string{"within 1506 feet", "within 1507 feet"}},
	{"number in words", [2]string{"共三层", "共五层"}, [2]string{"on three levels", "on five levels"}},
	{"a figure more", [2]string{"重5吨", "重15吨"}, [2]string{"weighs 5 tons", "weighs 15 tons"}},
	{"point", [2]string{"深1.5米", "深15米"}, [2]string{"depth 1.5 metres", "depth 15 metres"}},
	{"unit", [2]string{"相距3海里", "相距3公里"}, [2]string{"distance 3 miles", "distance 3 cables"}},
	{"side", [2]string{"位于左舷", "位于右舷"}, [2]string{"on the port side", "on the starboard side"}},
	{"negation", [2]string{"应当使用", "不应当使用"}, [2]string{"shall be used", "shall not be used"}},
	{"opposite", [2]string{"逐渐增大", "逐渐减小"}, [2]string{"will increase", "will decrease"}},
	{"colour", [2]string{"显示红光", "显示绿光"}, [2]string{"a red light", "a green light"}},
	{"duty", [2]string{"必须停车", "可以停车"}, [2]string{"must stop", "may stop"}},
	{"symbol", [2]string{"属于A类处所", "属于B类处所"}, [2]string{"at least 5 mW", "at least 5 MW"}},
	{"bearing", [2]string{"偏东漂移", "偏西漂移"}, [2]string{"drifting east", "drifting west"}},
}

func (t twist) pair(w writer, lang string, n int) (a, b string) {
	if lang == "zh" {
		x, y := w.zh(n/2), w.zh(n/2)
		return x + t.zh[0] + "，" + y, x + t.zh[1] + "，" + y
	}
	x, y := strings.TrimSuffix(w.en(n/2), "."), w.en(n/2)
	return x + " " + t.en[0] + " " + y, x + " " + t.en[1] + " " + y
}

// records names records in order, one file, one line each.
func records(unit int, payloads []*drydock.Record) []*drydock.Record {
	for i, r := range payloads {
		r.Origin = drydock.Origin{File: bank, At: drydock.Locator{Line: unit*1_000_000 + i + 1}}
		r.ID = drydock.NewID("bank", fmt.Sprint(unit), fmt.Sprint(i))
	}
	return payloads
}
