package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// summary is what the runs of one scenario under one policy have come to: medians, and whether all answers were right.
type summary struct {
	Scenario string    `json:"scenario"`
	Policy   string    `json:"policy"`
	Runs     int       `json:"runs"`
	Seconds  float64   `json:"seconds"`
	OfNone   float64   `json:"of_none,omitempty"`  // Seconds relative to those of policy none
	OfNaive  float64   `json:"of_naive,omitempty"` // and to those of policy naive
	Copies   float64   `json:"copies"`
	Restarts float64   `json:"restarts"`
	Clones   float64   `json:"clones"`
	Lost     float64   `json:"lost"`
	Wasted   float64   `json:"wasted_seconds"`
	Events   float64   `json:"history_events"`
	Right    bool      `json:"right"`
	AllTimes []float64 `json:"all_seconds"`
}

// summarize takes the medians of the runs of each scenario under each policy, in the order in which they came.
func summarize(outcomes []*outcome) (sums []summary) {
	for len(outcomes) > 0 {
		same := func(o *outcome) bool { return o.Scenario == outcomes[0].Scenario && o.Policy == outcomes[0].Policy }
		var group, rest []*outcome
		for _, o := range outcomes {
			if same(o) {
				group = append(group, o)
			} else {
				rest = append(rest, o)
			}
		}
		sums = append(sums, summaryOf(group))
		outcomes = rest
	}
	for i := range sums {
		sums[i].OfNone = relative(sums, sums[i], "none")
		sums[i].OfNaive = relative(sums, sums[i], "naive")
	}
	return sums
}

func summaryOf(group []*outcome) summary {
	median := func(value func(*outcome) float64) float64 {
		var values []float64
		for _, o := range group {
			values = append(values, value(o))
		}
		slices.Sort(values)
		n := len(values)
		return (values[(n-1)/2] + values[n/2]) / 2
	}
	s := summary{
		Scenario: group[0].Scenario, Policy: group[0].Policy, Runs: len(group), Right: true,
		Seconds:  median(func(o *outcome) float64 { return o.Seconds }),
		Copies:   median(func(o *outcome) float64 { return float64(o.Copies) }),
		Restarts: median(func(o *outcome) float64 { return float64(o.Restarts) }),
		Clones:   median(func(o *outcome) float64 { return float64(o.Clones) }),
		Lost:     median(func(o *outcome) float64 { return float64(o.Lost) }),
		Wasted:   median(func(o *outcome) float64 { return o.Wasted }),
		Events:   median(func(o *outcome) float64 { return float64(o.Events) }),
	}
	for _, o := range group {
		s.Right = s.Right && len(o.Wrong) == 0
		s.AllTimes = append(s.AllTimes, o.Seconds)
	}
	return s
}

// relative is the time of s in units of that under another policy; 0 if there is none.
func relative(sums []summary, s summary, policy string) float64 {
	for _, other := range sums {
		if other.Scenario == s.Scenario && other.Policy == policy {
			return s.Seconds / other.Seconds
		}
	}
	return 0
}

func printTable(w io.Writer, sums []summary) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "scenario\tpolicy\ttime\tof none\tof naive\tcopies\trestarts\tclones\tlost\twasted\tevents"+
		"\tanswer\t")
	for i, s := range sums {
		scenario, answer := s.Scenario, "right"
		if i > 0 && sums[i-1].Scenario == scenario {
			scenario = ""
		}
		if !s.Right {
			answer = "WRONG"
		}
		fmt.Fprintf(table, "%s\t%s\t%.1f s\t%s\t%s\t%g\t%g\t%g\t%g\t%.1f s\t%g\t%s\t\n", scenario, s.Policy, s.Seconds,
			share(s.OfNone), share(s.OfNaive), s.Copies, s.Restarts, s.Clones, s.Lost, s.Wasted, s.Events, answer)
	}
	return table.Flush()
}

// printReport writes the table, and what its words mean.
func printReport(w io.Writer, sums []summary, runs int, chosen []scenario, policies []policy) error {
	fmt.Fprintln(w)
	for _, s := range chosen {
		fmt.Fprintf(w, "%-10s %d maps, %d reduces, %d hosts of %d slots: %s\n",
			s.name, s.tasks, s.reduces, s.hosts, s.slots, s.about)
	}
	fmt.Fprintln(w)
	for _, p := range policies {
		fmt.Fprintf(w, "%-10s %s\n", p.name, p.about)
	}
	fmt.Fprintln(w)
	if err := printTable(w, sums); err != nil {
		return err
	}
	of := "One run."
	if runs > 1 {
		of = fmt.Sprintf("Medians of %d runs, of each number for itself.", runs)
	}
	_, err := fmt.Fprintf(w, `
%s
time      from the start of the workflow to its answer; of none, of naive: relative to that policy
copies    launched beside a running attempt; a restart kills that first, a clone is launched together with it
lost      attempts that failed, or were lost with their host or the server
wasted    time of slots, up to the answer, on attempts whose result did not count
events    in the workflow's history, which a replay went through again in every run without a difference
answer    right if every word of every run was counted as a direct count does
`, of)
	return err
}

func share(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}

func printJSON(w io.Writer, sums []summary) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sums)
}
