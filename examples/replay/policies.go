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
}

func entries() []entry {
	return []entry{
		{"mantri", restart.Mantri{}, true},
		{"largest-first", restart.Never{}, true}, // what Mantri's order alone saves
		{"late", restart.LATE{}, false},
		{"hadoop", restart.Hadoop{}, false},
		{"mapreduce", restart.MapReduce{}, false},
		{"dryad", restart.Dryad{}, false},
		{"spark", restart.Spark{}, false},
		{"flink", restart.Flink{}, false},
		{"late-early", restart.LATE{Early: true}, false},
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
