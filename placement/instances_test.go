package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// part returns how many of n random problems a test solves: one of so many if sampled, or else all.
func part(n, of int) int {
	if sampled {
		return n / of
	}
	return n
}

// The families of generated problems. Each family is hard for its own reason:
//
//   - shuffle: links of very different bandwidths
//   - skewed: a few large tasks
//   - sparse: inputs in only a quarter of the racks
//   - tight: hardly more slots than tasks
//   - even: links with equal bandwidths
var families = []string{"shuffle", "skewed", "sparse", "tight", "even"}

// instance generates a problem from a seed. Inputs are whole megabytes, and bandwidths are in megabytes per
// second.
func instance(family string, tasks, racks int, seed uint64) Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(tasks*1000+racks)))
	p := Problem{Up: make([]float64, racks), Down: make([]float64, racks)}
	held := make([]float64, racks) // by rack: its relative amount of data
	for j := range racks {
		held[j] = 0.2 + rng.ExpFloat64()
		switch family {
		case "even":
			p.Up[j], p.Down[j] = 500, 500
		case "tight":
			p.Up[j], p.Down[j] = float64(400+rng.IntN(200)), float64(400+rng.IntN(200))
		default:
			p.Up[j], p.Down[j] = float64(100+rng.IntN(900)), float64(100+rng.IntN(900))
		}
	}
	for range tasks {
		size := 0.5 + rng.Float64()
		if family == "skewed" {
			size = math.Exp(rng.NormFloat64())
		}
		row := make([]float64, racks)
		for j := range row {
			row[j] = math.Round(1000 * size * held[j] * (0.5 + rng.Float64()))
			if family == "sparse" && rng.IntN(4) > 0 {
				row[j] = 0
			}
		}
		p.Input = append(p.Input, row)
	}
	if family == "tight" {
		p.Slots = make([]int, racks)
		for i := range tasks + racks/2 {
			p.Slots[i%racks]++
		}
	}
	return p
}

func instanceName(family string, tasks, racks int, seed uint64) string {
	return fmt.Sprintf("%s-%dx%d-%d", family, tasks, racks, seed)
}
