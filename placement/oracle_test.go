package placement

import (
	"math"
	"math/rand/v2"
)

// transfer returns the longest transfer of a placement and its link, by the paper's formula, term by term. Data over a link
// of bandwidth 0 takes infinitely long.
func transfer(p Problem, rack []int) (longest float64, link Link) {
	for j := range p.Up {
		up, down := 0.0, 0.0
		for k, row := range p.Input {
			for i, bytes := range row {
				switch {
				case i == j && rack[k] != j:
					up += bytes
				case i != j && rack[k] == j:
					down += bytes
				}
			}
		}
		if s := over(up, p.Up[j]); s > longest {
			longest, link = s, Link{j, Up}
		}
		if s := over(down, p.Down[j]); s > longest {
			longest, link = s, Link{j, Down}
		}
	}
	return longest, link
}

// over returns bytes/bandwidth, or 0 for zero bytes.
func over(bytes, bandwidth float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / bandwidth
}

// fits reports whether the placement respects the slots.
func fits(p Problem, rack []int) bool {
	if p.Slots == nil {
		return true
	}
	left := append([]int(nil), p.Slots...)
	for _, j := range rack {
		if left[j]--; left[j] < 0 {
			return false
		}
	}
	return true
}

// bruteForce tries all r^n placements. The result is +Inf if no placement is finite.
func bruteForce(p Problem) float64 {
	rack, best := make([]int, len(p.Input)), math.Inf(1)
	for {
		if fits(p, rack) {
			longest, _ := transfer(p, rack)
			best = min(best, longest)
		}
		k := 0
		for ; k < len(rack); k++ {
			if rack[k]++; rack[k] < len(p.Up) {
				break
			}
			rack[k] = 0
		}
		if k == len(rack) {
			return best
		}
	}
}

// dealtOut returns the longest transfer if the tasks are dealt out in turn, each to the next rack with a free slot.
func dealtOut(p Problem) float64 {
	rack, count, j := make([]int, len(p.Input)), make([]int, len(p.Up)), 0
	for k := range rack {
		for p.Slots != nil && count[j] >= p.Slots[j] {
			j = (j + 1) % len(p.Up)
		}
		rack[k] = j
		count[j]++
		j = (j + 1) % len(p.Up)
	}
	longest, _ := transfer(p, rack)
	return longest
}

// oneAtATime returns the placement of oneByOne in the caller's tasks and racks. -1 marks a task that found no rack.
func oneAtATime(p Problem) []int {
	m, rack := newModel(&p), make([]int, len(p.Input))
	for k, j := range oneByOne(m, &p).rack {
		if rack[m.tasks[k]] = j; j != nowhere {
			rack[m.tasks[k]] = m.racks[j]
		}
	}
	return rack
}

// randomProblem generates a small problem of whole numbers, with many ties, some slots and some links of bandwidth 0.
func randomProblem(rng *rand.Rand, tasks, racks int) Problem {
	p := Problem{Up: make([]float64, racks), Down: make([]float64, racks)}
	closed := rng.IntN(2) == 0
	for j := range racks {
		p.Up[j], p.Down[j] = float64(1+rng.IntN(4)), float64(1+rng.IntN(4))
		if closed && rng.IntN(5) == 0 {
			p.Up[j] = 0
		}
		if closed && rng.IntN(5) == 0 {
			p.Down[j] = 0
		}
	}
	for range tasks {
		row := make([]float64, racks)
		for j := range row {
			row[j] = float64(max(0, rng.IntN(9)-2))
		}
		p.Input = append(p.Input, row)
	}
	if rng.IntN(2) == 0 {
		p.Slots = make([]int, racks)
		for range tasks + rng.IntN(3) {
			p.Slots[rng.IntN(racks)]++
		}
	}
	return p
}
