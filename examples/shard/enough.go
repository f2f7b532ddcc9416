package main

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// floor returns the time before which no number of machines ends, each like the fastest of the given machines. The
// reason is the longest test, or the longest package that cannot be cut: floor returns its name, too.
func floor(suites []suite, machines []machine) (least float64, at name) {
	longest := -1.
	for i := range suites {
		s := &suites[i]
		seconds, what := s.whole(), name{pkg: s.pkg}
		if s.split {
			what.test = s.tests[0].name
			seconds = min(seconds, s.again+s.of(s.tests[:1]))
		}
		if seconds > longest {
			longest, at = seconds, what
		}
	}
	least = math.Inf(1)
	for _, m := range machines {
		least = min(least, m.start+float64(max(longest, 0)*m.factor))
	}
	return least, at
}

// enough returns the smallest number of machines with which the plan ends within 2 % of floor. If up to mostMachines no
// plan does, because each piece of a package has an overhead, it returns the smallest number with which the plan ends
// within 2 % of the best plan.
func enough(suites []suite, machines []machine) (int, error) {
	least, _ := floor(suites, machines)
	n, err := fewest(suites, machines, least*nearly)
	if n > 0 || err != nil {
		return n, err
	}
	best := math.Inf(1)
	for n := 1; n <= mostMachines; n *= 2 {
		of, err := newPlan(suites, more(suites, machines, n)[:n])
		if err != nil {
			return 0, err
		}
		best = min(best, of.seconds)
	}
	return fewest(suites, machines, best*nearly)
}

// more returns at least n machines. Machines beyond the given machines are like the given machine on which the longest
// test ends first.
func more(suites []suite, machines []machine, n int) []machine {
	least, _ := floor(suites, machines)
	first := slices.MinFunc(machines, func(a, b machine) int {
		return cmp.Compare(a.start+float64(least*a.factor), b.start+float64(least*b.factor))
	})
	return append(slices.Clone(machines), slices.Repeat([]machine{first}, max(n-len(machines), 0))...)
}

// fewest returns the smallest number of machines with which the plan ends within some seconds, or 0 if this number is
// over mostMachines.
func fewest(suites []suite, machines []machine, seconds float64) (int, error) {
	var err error
	do := func(n int) bool {
		on := more(suites, machines, n)[:n]
		if p := (packed{suites: suites, machines: on}); p.ideal() > seconds {
			return false
		}
		of, failed := newPlan(suites, on)
		err = cmp.Or(err, failed)
		return of.seconds <= seconds
	}
	high := 1
	for ; err == nil && !do(high); high *= 2 {
		if high >= mostMachines {
			return 0, err
		}
	}
	if high == 1 {
		return 1, err
	}
	return high/2 + 1 + sort.Search(high/2-1, func(more int) bool { return do(high/2 + 1 + more) }), err
}

// cheapest returns the number n of machines with the least sum of the end of the plan and n times an overhead, in
// seconds.
func cheapest(suites []suite, machines []machine, overhead float64) (int, error) {
	least, _ := floor(suites, machines)
	best, cost := 0, math.Inf(1)
	for n := 1; n <= mostMachines && least+float64(float64(n)*overhead) < cost; n++ {
		of, err := newPlan(suites, more(suites, machines, n)[:n])
		if err != nil {
			return 0, err
		}
		if sum := of.seconds + float64(float64(n)*overhead); sum < cost {
			best, cost = n, sum
		}
	}
	return best, nil
}

// mostMachines is the largest number of machines of a plan.
const mostMachines = 1024

// duration writes seconds with two digits after the point below 10 s, one below a minute, and none above.
func duration(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
