package restart

// Prune appends to dst the indices of the copies to kill, in ascending order: all but the α fastest that have run for
// at least Δ [Mantri, Pseudocode 1, line 3]. A copy whose t_rem is unknown counts as the slowest, once it has run for
// CopyPause; among equals the one that has run longest is kept. Decide names the same copies one at a time, slowest first.
// O(len(copies)^2) for what is meant to be three copies; it allocates only if dst is too short.
func (m Mantri) Prune(dst []int, copies []Copy, p Phase) []int {
	m = m.Effective()
	interval := max(p.Interval, 0)
	for i := range copies {
		if m.judged(&copies[i], interval) && faster(copies, i) >= m.FastestKept {
			dst = append(dst, i)
		}
	}
	return dst
}

// Prune is Mantri{}.Prune: it appends the indices of the copies to kill.
func Prune(dst []int, copies []Copy, p Phase) []int { return Mantri{}.Prune(dst, copies, p) }
