package main

import (
	"math"

	"github.com/straggler-go/straggler/skew"
)

// assign assigns the pieces to the machines. Pieces of one package on the same machine become one piece.
func (p *packed) assign() (plan, error) {
	var parts []part
	problem := skew.Problem{Reducers: make([]skew.Reducer, len(p.machines))}
	for i := range p.suites {
		cut, err := p.cut(&p.suites[i], p.pieces[i])
		if err != nil {
			return plan{}, err
		}
		parts = append(parts, cut...)
	}
	for _, part := range parts {
		problem.Sizes = append(problem.Sizes, size(part.seconds))
	}
	for len(problem.Sizes) < len(p.machines) {
		problem.Sizes = append(problem.Sizes, 0)
	}
	for r, m := range p.machines {
		problem.Reducers[r] = skew.Reducer{Ready: seconds(m.start), SecondsPerUnit: micro * m.factor / m.width}
	}
	dealt, err := p.policy.Assign(problem)
	if err != nil {
		return plan{}, err
	}
	of := plan{shards: make([]shard, len(p.machines))}
	for r, m := range p.machines {
		of.shards[r].machine = m
	}
	for i, part := range parts {
		if !part.whole {
			of.shards[dealt.Reducer[i]].add(part)
		}
	}
	for i, part := range parts {
		if to := &of.shards[dealt.Reducer[i]]; part.whole {
			to.parts = append(to.parts, part)
		}
	}
	for r := range of.shards {
		of.shards[r].finish()
		of.seconds = max(of.seconds, of.shards[r].end)
	}
	of.rests()
	return of, nil
}

// size returns seconds as a whole number of microseconds, the unit of package skew here.
func size(s float64) int64 { return int64(math.Round(min(s, 1e9) / micro)) }

// cut divides the tests of a suite into pieces that take about the same time.
func (p *packed) cut(s *suite, pieces int) ([]part, error) {
	if pieces == 1 {
		return []part{{suite: s, tests: s.tests, whole: true, seconds: s.whole()}}, nil
	}
	problem := skew.Problem{Reducers: make([]skew.Reducer, pieces)}
	for _, t := range s.tests {
		problem.Sizes = append(problem.Sizes, max(size(t.seconds), 1))
	}
	for r := range problem.Reducers {
		problem.Reducers[r].SecondsPerUnit = micro
	}
	dealt, err := skew.Assign(problem)
	if err != nil {
		return nil, err
	}
	parts := make([]part, pieces)
	for i, t := range s.tests {
		at := &parts[dealt.Reducer[i]]
		at.tests = append(at.tests, t)
	}
	for i := range parts {
		parts[i].suite, parts[i].seconds = s, s.again+s.of(parts[i].tests)
	}
	return parts, nil
}
