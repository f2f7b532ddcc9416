package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Entry is a policy that can be compared.
type Entry struct {
	keep         map[int]bool // the phases of which what was known is kept; nil: all
	Name         string
	Policy       restart.Policy
	LargestFirst bool         // start waiting tasks by the size of their input, as the policy's paper does
	Clones       bool         // clone small phases within a budget
	Progress     sim.Progress // what copies report
	CopyShare    float64      // of a phase's slots that copies may hold at once; 0: any
	Witness      sim.Witness  // sees what the tracker answers; the policy must be one that learns, since phases then come in order
}

// Entries lists the policies that all stands for, the library's default first.
func Entries() []Entry {
	return []Entry{
		{Name: "least-cost", Policy: restart.LeastCost{}, LargestFirst: true},
		{Name: "mantri", Policy: restart.Mantri{}, LargestFirst: true},
		{Name: "largest-first", Policy: restart.Never{}, LargestFirst: true}, // what Mantri's order alone saves
		{Name: "late", Policy: rules.LATE{}},
		{Name: "hadoop", Policy: rules.Hadoop{}},
		{Name: "mapreduce", Policy: rules.MapReduce{}},
		{Name: "dryad", Policy: rules.Dryad{}},
		{Name: "spark", Policy: rules.Spark{}},
		{Name: "flink", Policy: rules.Flink{}},
		{Name: "late-early", Policy: rules.LATE{Early: true}},
		{Name: "dolly", Policy: restart.Never{}, Clones: true},
	}
}

// named are all policies that can be chosen. SDA and ESE have Mantri's order, to compare how they copy, and nothing else.
func named() []Entry {
	return append(Entries(),
		Entry{Name: "sda", Policy: rules.SDA{}, LargestFirst: true},
		Entry{Name: "ese", Policy: rules.ESE{}, LargestFirst: true})
}

// Choose picks policies from a text: names separated by commas, in the order given, each followed by the fields that
// differ from its published defaults, as in "mantri,idle-gain=2,late". "all" is [Entries], and stands alone.
func Choose(text string) ([]Entry, error) {
	if strings.TrimSpace(text) == "all" {
		return Entries(), nil
	}
	var chosen []Entry
	entries := named()
	for _, profile := range profiles(text) {
		name, fields, _ := strings.Cut(profile, ",")
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
		switch {
		case name == "all":
			return nil, errors.New("the policy all stands for every one, and so stands alone")
		case i < 0:
			return nil, fmt.Errorf("unknown policy %q; there are %s, or most of them: all", name, strings.Join(Names(), ", "))
		}
		e := entries[i]
		if fields != "" {
			if err := e.set(fields); err != nil {
				return nil, err
			}
			e.Name = profile
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

// profiles splits a list of policies; what holds an equals sign is a field of the policy before it.
func profiles(text string) (list []string) {
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if strings.Contains(part, "=") && len(list) > 0 {
			list[len(list)-1] += "," + part
		} else {
			list = append(list, part)
		}
	}
	return list
}

// set changes fields of the policy; those of its profile stay as they are.
func (e *Entry) set(fields string) error {
	if e.Clones || e.Name == "largest-first" {
		return fmt.Errorf("the policy %s has no fields", e.Name)
	}
	policy, err := rules.Parse(rules.Text(e.Policy) + "," + fields)
	e.Policy = policy
	return err
}

// Names lists the names of those that can be chosen.
func Names() (all []string) {
	for _, e := range named() {
		all = append(all, e.Name)
	}
	return all
}
