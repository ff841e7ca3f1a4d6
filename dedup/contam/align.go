package contam

// distance is the edit distance of two short texts. foreign letters differ from
// each other, too.
func distance(a, b []letter) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		prev := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := prev
			if x != y || x == foreign {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, prev+1)
		}
	}
	return row[len(b)]
}

// A pair is a letter of one text beside that of the other; -1 where one has
// none.
type pair struct{ from, to int }

// align returns the pairs of a cheapest alignment, in order; letters that only b
// has are left out.
func align(a, b []letter) []pair {
	w := len(b) + 1
	cost := make([]int, (len(a)+1)*w)
	for j := range w {
		cost[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cost[i*w] = i
		for j := 1; j < w; j++ {
			sub := cost[(i-1)*w+j-1]
			if a[i-1] != b[j-1] || a[i-1] == foreign {
				sub++
			}
			cost[i*w+j] = min(sub, cost[(i-1)*w+j]+1, cost[i*w+j-1]+1)
		}
	}
	out := make([]pair, len(a))
	i, j := len(a), len(b)
	for i > 0 {
		switch c := cost[i*w+j]; {
		case j > 0 && c == cost[(i-1)*w+j-1] && a[i-1] == b[j-1] && a[i-1] != foreign:
			i, j = i-1, j-1
			out[i] = pair{i, j}
		case c == cost[(i-1)*w+j]+1:
			i--
			out[i] = pair{i, -1}
		case j > 0 && c == cost[(i-1)*w+j-1]+1:
			i, j = i-1, j-1
			out[i] = pair{i, j}
		default:
			j--
		}
	}
	return out
}
