package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/straggler-go/straggler/examples/kit"
)

// rules are the columns of the table.
var rules = []string{plain, timeout, "naive", plugin}

// triple is a run of a scenario under each rule, one after the other and with the same seed. The record has one in each
// line, as JSON.
type triple struct {
	Scenario string             `json:"scenario"`
	Seed     uint64             `json:"seed"`
	Seconds  map[string]float64 `json:"seconds"`
	Lost     map[string]int     `json:"lost"`
}

// record is the list of runs, and the file that they are appended to.
type record struct {
	mu   sync.Mutex
	file *os.File // nil: none
	runs []triple
}

func openRecord(name string) (*record, error) {
	r := &record{}
	if name == "" {
		return r, nil
	}
	var err error
	if r.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	for lines := json.NewDecoder(r.file); ; {
		var t triple
		if err := lines.Decode(&t); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, run %d: %w", name, len(r.runs)+1, err)
		}
		r.runs = append(r.runs, t)
	}
}

func (r *record) has(scenario string, seed uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.runs {
		if t.Scenario == scenario && t.Seed == seed {
			return true
		}
	}
	return false
}

func (r *record) add(t triple) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, t)
	if r.file == nil {
		return nil
	}
	line, err := json.Marshal(t)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	return err
}

// compare runs the scenarios that the record does not have, and prints a table.
func compare(ctx context.Context, names string, runs, atOnce int, file string) error {
	if runs < 1 || atOnce < 1 {
		return fmt.Errorf("-runs is %d and -at-once is %d, want at least 1", runs, atOnce)
	}
	chosen, err := kit.Pick(names, scenarios(), func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	rec, err := openRecord(file)
	if err != nil {
		return err
	}
	type job struct {
		scenario
		seed uint64
	}
	jobs := make(chan job, runs*len(chosen))
	for seed := range uint64(runs) {
		for _, s := range chosen {
			if !rec.has(s.name, seed+1) {
				jobs <- job{s, seed + 1}
			}
		}
	}
	close(jobs)
	group, ctx := errgroup.WithContext(ctx)
	for range min(atOnce, len(jobs)) {
		group.Go(func() error {
			st, err := start(ctx)
			defer st.end()
			for j := range jobs {
				if err == nil {
					err = st.compare(ctx, j.scenario, j.seed, rec)
				}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Println("\n| scenario | runs | plain, s | timeout / plain | naive / plain | plugin / plain | plugin / naive | no result after 90 s |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, s := range chosen {
		fmt.Println(rec.row(s.name))
	}
	return nil
}

// compare runs a scenario under each rule.
func (st *stage) compare(ctx context.Context, s scenario, seed uint64, rec *record) error {
	t := triple{s.name, seed, map[string]float64{}, map[string]int{}}
	for _, rule := range rules {
		var err error
		if t.Seconds[rule], t.Lost[rule], err = st.run(ctx, s, rule, seed); err != nil {
			return fmt.Errorf("%s, %s, run %d: %w", s.name, rule, seed, err)
		}
		fmt.Fprintf(os.Stderr, "%s, %s, run %d: %.1f s, %d lost\n", s.name, rule, seed, t.Seconds[rule], t.Lost[rule])
	}
	return rec.add(t)
}

// row returns the row of a scenario in the table.
func (r *record) row(scenario string) string {
	took, lost := map[string][]float64{}, map[string]int{}
	for _, t := range r.runs {
		for _, rule := range rules {
			if t.Scenario == scenario {
				took[rule], lost[rule] = append(took[rule], t.Seconds[rule]), lost[rule]+t.Lost[rule]
			}
		}
	}
	return fmt.Sprintf("| %s | %d | %.1f | %s | %s | %s | %s | %d, %d, %d, %d |", scenario, len(took[plain]), mean(took[plain]),
		ratio(took[timeout], took[plain]), ratio(took["naive"], took[plain]), ratio(took[plugin], took[plain]),
		ratio(took[plugin], took["naive"]), lost[plain], lost[timeout], lost["naive"], lost[plugin])
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// ratio returns the mean of the ratios of paired runs, with an interval of two standard errors if there are several.
func ratio(a, b []float64) string {
	var all []float64
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	m, v := mean(all), 0.
	if len(all) < 2 {
		return fmt.Sprintf("%.2f", m)
	}
	for _, x := range all {
		v += (x - m) * (x - m) / float64(len(all)-1)
	}
	return fmt.Sprintf("%.2f ± %.2f", m, 2*math.Sqrt(v/float64(len(all))))
}
