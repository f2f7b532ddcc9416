package main

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/restart"
)

// entry is a policy that can be compared.
type entry struct {
	name         string
	policy       restart.Policy
	largestFirst bool // start waiting tasks by the size of their input, as the policy's paper does
	clones       bool // clone small phases within a budget
}

func entries() []entry {
	return []entry{
		{name: "mantri", policy: restart.Mantri{}, largestFirst: true},
		{name: "largest-first", policy: restart.Never{}, largestFirst: true}, // what Mantri's order alone saves
		{name: "late", policy: restart.LATE{}},
		{name: "hadoop", policy: restart.Hadoop{}},
		{name: "mapreduce", policy: restart.MapReduce{}},
		{name: "dryad", policy: restart.Dryad{}},
		{name: "spark", policy: restart.Spark{}},
		{name: "flink", policy: restart.Flink{}},
		{name: "late-early", policy: restart.LATE{Early: true}},
		{name: "dolly", policy: restart.Never{}, clones: true},
	}
}

// choose picks policies by name, in the order given; "all" is all of them.
func choose(list string) ([]entry, error) {
	if list == "all" {
		return entries(), nil
	}
	var chosen []entry
	for _, name := range strings.Split(list, ",") {
		found := false
		for _, e := range entries() {
			if e.name == strings.TrimSpace(name) {
				chosen, found = append(chosen, e), true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown policy %q; there are all, %s", name, strings.Join(names(), ", "))
		}
	}
	return chosen, nil
}

func names() (all []string) {
	for _, e := range entries() {
		all = append(all, e.name)
	}
	return all
}
