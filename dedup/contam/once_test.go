package contam

import "testing"

// No letter of a text counts for two parts of an item: not a stem's second half
// for its first, and not the options for the stem.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"趸船在不对称进水后，一舱进水后的横倾角不得超过______，两个以上相邻舱进水后的横倾角不得超过______。", "C", "7°/15°", "5°/15°", "5°/12°"},
		[]string{"关于浮动码头备用电源的说法，下列错误的是______。", "D", "浮动码头备用电源独立于岸电系统和照明系统", "当岸电和照明系统都无法正常工作时，浮动码头备用电源仍可正常工作", "浮动码头备用电源一般是指蓄电池组", "浮动码头备用电源一般为交流电"},
	)
	options := "\nA. 浮动码头备用电源独立于岸电系统和照明系统\nB. 当岸电和照明系统都无法正常工作时，浮动码头备用电源仍可正常工作\nC. 浮动码头备用电源一般是指蓄电池组\nD. 浮动码头备用电源一般为交流电"
	checkVerdicts(t, ix, []verdictCase{
		{"趸船在不对称进水后，一舱进水后的横倾角不得超过______，两个以上相邻舱进水后的横倾角不得超过______。", 0, StemOnly},
		{"趸船在不对称进水后，一舱进水后的横倾角不得超过缆绳允许的值，此时值班员应先报告码头。", 0, SharedMaterial},
		{"趸船在不对称迸水后，一舱进水后的横顷角不得超过______，两个以上相邻舱进水后的横倾角不得超过______。", 0, StemOnly},
		{"关于浮动码头备用电源的说法，下列错误的是______。" + options, 1, Exact},
		{"哪种花卉适合在阳台上越冬？" + options, 1, OptionsOnly},
	})
}
