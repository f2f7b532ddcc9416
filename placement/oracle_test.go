package placement

import (
	"math"
	"math/rand/v2"
)

// transfer is the longest transfer of a placement by the paper's formula, term by term, and its link. Data over a link
// without bandwidth takes for ever.
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

func over(bytes, bandwidth float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / bandwidth
}

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

// bruteForce tries all r^n placements. The result is +Inf if none is finite.
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

// dealtOut is the transfer of a placement in turn, at the first rack with room.
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

// oneAtATime is the placement of the tasks one by one, in their order, by the caller's racks; -1 where none could be.
func oneAtATime(p Problem) []int {
	m, rack := newModel(&p), make([]int, len(p.Input))
	for k, j := range oneByOne(m, &p).rack {
		if rack[m.tasks[k]] = j; j != nowhere {
			rack[m.tasks[k]] = m.racks[j]
		}
	}
	return rack
}

// randomProblem makes a small problem of whole numbers, with many ties, some slots and some links without bandwidth.
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
