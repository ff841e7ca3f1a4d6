package contam

import "testing"

// No letter of a text counts for two parts of an item: not a stem's second half
// for its first, and not the options for the stem.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	ix := indexOf(t,
		[]string{"水塔在不均匀沉降后，一侧下沉后的偏斜角不得超过______，三根以上相连柱下沉后的偏斜角不得超过______。", "C", "3°/11°", "4°/11°", "4°/10°"},
		[]string{"关于温室花房备用水泵的介绍，其中不对的是______。", "D", "温室花房备用水泵独立于市政管网和喷淋管网", "当市政和喷淋管网都不能照常供水时，温室花房备用水泵仍可照常供水", "温室花房备用水泵通常是指柴油机泵", "温室花房备用水泵通常为手摇泵"},
	)
	options := "\nA. 温室花房备用水泵独立于市政管网和喷淋管网\nB. 当市政和喷淋管网都不能照常供水时，温室花房备用水泵仍可照常供水\nC. 温室花房备用水泵通常是指柴油机泵\nD. 温室花房备用水泵通常为手摇泵"
	checkVerdicts(t, ix, []verdictCase{
		{"水塔在不均匀沉降后，一侧下沉后的偏斜角不得超过______，三根以上相连柱下沉后的偏斜角不得超过______。", 0, StemOnly},
		{"水塔在不均匀沉降后，一侧下沉后的偏斜角不得超过墙体允许的值，此时值班员应先报告厂部。", 0, SharedMaterial},
		{"水塔在不均匀沉降后，一侧卞沉后的偏科角不得超过______，三根以上相连柱下沉后的偏斜角不得超过______。", 0, StemOnly},
		{"关于温室花房备用水泵的介绍，其中不对的是______。" + options, 1, Exact},
		{"哪种木材适合做船模的龙骨？" + options, 1, OptionsOnly},
	})
}
