package placement

// top contains the times of the three longest transfers of a placement, longest first. Many placements have the
// same longest transfer. Then the next two times say which placement is better.
type top [3]float64

// less reports whether the longest transfer of t is shorter than the longest transfer of o. If they are equally long,
// it compares the next transfers.
func (t top) less(o top) bool {
	for i, v := range t {
		if v != o[i] {
			return v < o[i]
		}
	}
	return false
}

// insert adds the time v to t if v belongs to the three longest transfers.
func (t *top) insert(v float64) {
	switch {
	case v <= t[2]:
	case v <= t[1]:
		t[2] = v
	case v <= t[0]:
		t[1], t[2] = v, t[1]
	default:
		t[0], t[1], t[2] = v, t[0], t[1]
	}
}

// fillRest sets rest[j] to the three longest transfers over the links of all racks, except rack j and the rack whose
// index is without. If without is nowhere, only rack j is excluded. Cost: O(r) for r racks.
func (l *layout) fillRest(without int, rest []top) {
	var order [len(top{}) + 2]int // the five busiest links; without the two links of any rack, three links remain
	var load [len(top{}) + 2]float64
	found := 0
	for link := range 2 * l.m.r {
		if link/2 == without {
			continue
		}
		v, i := l.load(link), found
		if found < len(order) {
			found++
		} else {
			i--
			if v <= load[i] {
				continue
			}
		}
		for ; i > 0 && v > load[i-1]; i-- {
			order[i], load[i] = order[i-1], load[i-1]
		}
		order[i], load[i] = link, v
	}
	for j := range rest {
		t, n := top{-1, -1, -1}, 0
		for i := 0; i < found && n < len(t); i++ {
			if order[i]/2 != j {
				t[n] = load[i]
				n++
			}
		}
		rest[j] = t
	}
}

// load returns the time that a link is busy. Link 2j is the uplink of rack j, and link 2j+1 is its downlink.
func (l *layout) load(link int) float64 {
	if link%2 == 0 {
		return l.up[link/2]
	}
	return l.down[link/2]
}
