package replicate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// enumerate returns the exact expected time to redo output k. It goes through all sets of other outputs that may be
// lost, and adds up their times, weighted by their probability. It uses plain recursion and is right for every
// graph.
func enumerate(outputs []Output, k int) float64 {
	mean := 0.0
	for lost := range 1 << len(outputs) {
		if lost>>k&1 == 0 {
			continue
		}
		probability := 1.0
		for j, o := range outputs {
			switch {
			case j == k:
			case lost>>j&1 == 1:
				probability *= o.Loss
			default:
				probability *= 1 - o.Loss
			}
		}
		if probability > 0 {
			mean += probability * redoGiven(outputs, lost, k)
		}
	}
	return mean
}

// redoGiven returns the time to redo output k if the outputs in the bit set lost are lost and all others exist.
func redoGiven(outputs []Output, lost, k int) float64 {
	stall := 0.0
	for _, j := range outputs[k].Inputs {
		if lost>>j&1 == 1 {
			stall = max(stall, redoGiven(outputs, lost, j))
		}
	}
	return outputs[k].Run.Seconds() + stall
}

// byDefinition computes the recursion of the package directly from its definition: the expected maximum over all
// sets of direct inputs that may be lost, where each input takes its mean time.
func byDefinition(outputs []Output, k int) (redo, work float64) {
	run := outputs[k].Run.Seconds()
	inputs := distinct(outputs[k].Inputs)
	redos, mean := make([]float64, len(inputs)), 0.0
	work = run
	for i, j := range inputs {
		var w float64
		redos[i], w = byDefinition(outputs, j)
		work += outputs[j].Loss * w
	}
	for lost := range 1 << len(inputs) {
		probability, stall := 1.0, 0.0
		for i, j := range inputs {
			if lost>>i&1 == 1 {
				probability *= outputs[j].Loss
				stall = max(stall, redos[i])
			} else {
				probability *= 1 - outputs[j].Loss
			}
		}
		mean += probability * stall
	}
	return run + mean, work
}

func distinct(inputs []int) (out []int) {
	seen := map[int]bool{}
	for _, j := range inputs {
		if !seen[j] {
			seen[j] = true
			out = append(out, j)
		}
	}
	return out
}

// randomGraph returns a random graph. Inputs have lower indices than their readers, and some inputs appear twice.
func randomGraph(rng *rand.Rand, n, fanIn int) []Output {
	outputs := make([]Output, n)
	for k := range outputs {
		outputs[k] = Output{Run: time.Duration(rng.IntN(100)) * time.Second, Loss: float64(rng.IntN(11)) / 10}
		for range rng.IntN(fanIn + 1) {
			if k > 0 {
				outputs[k].Inputs = append(outputs[k].Inputs, rng.IntN(k))
			}
		}
	}
	return outputs
}

// renumbered returns the outputs in another order, and the new index of each output.
func renumbered(rng *rand.Rand, outputs []Output) (list []Output, at []int) {
	at = rng.Perm(len(outputs))
	list = make([]Output, len(outputs))
	for k, o := range outputs {
		inputs := make([]int, len(o.Inputs))
		for i, j := range o.Inputs {
			inputs[i] = at[j]
		}
		list[at[k]] = Output{Run: o.Run, Loss: o.Loss, Inputs: inputs}
	}
	return list, at
}

// enumerateDomains does the same as enumerate, for outputs with domains. For each domain there is one random
// number, and the outputs with a Loss above this number are lost.
func enumerateDomains(outputs []Output, k int) float64 {
	draws := map[int][]float64{} // for each domain, the values of Loss at which the set of lost outputs changes
	for j, o := range outputs {
		domain := domainOf(outputs, j)
		draws[domain] = append(draws[domain], o.Loss)
	}
	domains := slices.Sorted(maps.Keys(draws))
	mean, total := 0.0, 0.0
	drawn := map[int]float64{}
	var draw func(i int, probability float64)
	draw = func(i int, probability float64) {
		if i == len(domains) {
			lost := 0
			for j, o := range outputs {
				if drawn[domainOf(outputs, j)] < o.Loss {
					lost |= 1 << j
				}
			}
			if lost>>k&1 == 1 {
				mean += probability * redoGiven(outputs, lost, k)
				total += probability
			}
			return
		}
		edges := append(slices.Clone(draws[domains[i]]), 0, 1)
		slices.Sort(edges)
		for e := range edges[1:] {
			if width := edges[e+1] - edges[e]; width > 0 {
				drawn[domains[i]] = (edges[e] + edges[e+1]) / 2
				draw(i+1, probability*width)
			}
		}
	}
	draw(0, 1)
	return mean / total
}

func domainOf(outputs []Output, j int) int {
	if d := outputs[j].Domain; d != 0 {
		return d
	}
	return -1 - j // the output has its own domain
}
