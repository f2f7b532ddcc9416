package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Worker is a machine with the time that stragglers cost on it.
type Worker struct {
	Host       string  `json:"host"`
	Tasks      int     `json:"tasks"`
	Stragglers int     `json:"stragglers"`
	Excess     float64 `json:"excess_seconds"` // time of its stragglers beyond the medians of their phases
	Ratio      float64 `json:"ratio"`          // median of the times of its tasks, each divided by the median of its phase
}

// Heat is a map of hosts and spans of time. A cell has the mean time of the tasks that ran there, each divided by the
// median of its phase.
type Heat struct {
	Hosts []string `json:"hosts"`
	// Seconds is the length of a column. The first column begins with the first phase.
	Seconds float64 `json:"column_seconds"`
	// Cells are rows of hosts, then columns; null if no task ran.
	Cells [][]*float64 `json:"cells"`
}

const (
	mostWorkers  = 40
	mostHeatRows = 20
	heatColumns  = 48
)

// AddWorkers adds the machines, the machines on which stragglers cost most first. Phases of independent runs are left
// out of the heat map.
func (r *Report) AddWorkers(phases []*sim.Phase) {
	index := map[string]int{}
	var all []Worker
	var ratios [][]float64
	end := time.Duration(0)
	for _, p := range phases {
		own := compare.AppendRatios(nil, p)
		for i, ratio := range own {
			t := &p.Tasks[i]
			end = max(end, p.Begins+t.Start+compare.Last(p, i))
			if t.Host == "" {
				continue
			}
			at, known := index[t.Host]
			if !known {
				at = len(all)
				index[t.Host] = at
				all, ratios = append(all, Worker{Host: t.Host}), append(ratios, nil)
			}
			w := &all[at]
			w.Tasks++
			ratios[at] = append(ratios[at], ratio)
			if ratio > compare.Slow {
				w.Stragglers++
				w.Excess += compare.Last(p, i).Seconds() * (1 - 1/ratio)
			}
		}
	}
	if len(all) < 2 {
		return
	}
	for i := range all {
		all[i].Ratio = causes.Median(ratios[i])
	}
	slices.SortStableFunc(all, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(b.Excess, a.Excess), cmp.Compare(b.Ratio, a.Ratio))
	})
	r.Workers = all[:min(len(all), mostWorkers)]
	r.WorkersLeftOut = len(all) - len(r.Workers)
	r.Heat = heat(phases, r.Workers[:min(len(r.Workers), mostHeatRows)], end)
}

// heat returns the heat map of the machines.
func heat(phases []*sim.Phase, workers []Worker, end time.Duration) *Heat {
	h := &Heat{Seconds: end.Seconds() / heatColumns}
	if h.Seconds <= 0 {
		return nil
	}
	rows := map[string]int{}
	sums := make([][heatColumns][2]float64, len(workers))
	for i, w := range workers {
		rows[w.Host] = i
		h.Hosts = append(h.Hosts, w.Host)
	}
	for _, p := range phases {
		if p.Apart {
			continue
		}
		for i, ratio := range compare.AppendRatios(nil, p) {
			row, shown := rows[p.Tasks[i].Host]
			if !shown {
				continue
			}
			begin := (p.Begins + p.Tasks[i].Start).Seconds()
			last := min(int((begin+compare.Last(p, i).Seconds())/h.Seconds), heatColumns-1)
			for column := min(int(begin/h.Seconds), heatColumns-1); column <= last; column++ {
				sums[row][column][0] += ratio
				sums[row][column][1]++
			}
		}
	}
	for _, row := range sums {
		cells := make([]*float64, heatColumns)
		for column, sum := range row {
			if sum[1] > 0 {
				mean := sum[0] / sum[1]
				cells[column] = &mean
			}
		}
		h.Cells = append(h.Cells, cells)
	}
	return h
}
