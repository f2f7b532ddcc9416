package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/published"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Entry is a policy in a comparison.
type Entry struct {
	among        *Comparison // its first phases by ByChange keep Result.Known; nil: all phases
	Name         string
	Policy       restart.Policy
	LargestFirst bool         // start the waiting task with the largest input first, as the paper of the policy does
	Clones       bool         // clone small phases within a budget
	Progress     sim.Progress // model of the progress that attempts report
	CopyShare    float64      // largest share of the slots of a phase that copies may use at once; 0: no bound
	// Witness sees the answers of the tracker; only for a policy that learns from earlier phases, for which phases are replayed in order.
	Witness sim.Witness
}

// Entries returns the policies that "all" selects. The library's default is first.
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
		{Name: "naive", Policy: published.Naive},
		{Name: "late-early", Policy: rules.LATE{Early: true}},
		{Name: "dolly", Policy: restart.Never{}, Clones: true},
	}
}

// named returns all policies that can be chosen. SDA and ESE use Mantri's order of tasks, so that only their copies
// differ.
func named() []Entry {
	return append(Entries(),
		Entry{Name: "sda", Policy: rules.SDA{}, LargestFirst: true},
		Entry{Name: "ese", Policy: rules.ESE{}, LargestFirst: true})
}

// Choose returns the policies in a text: names separated by commas, in their order. A name may be followed by fields
// that differ from the published defaults, as in "mantri,idle-gain=2,late". The text "all" selects [Entries] and must
// be alone.
func Choose(text string) ([]Entry, error) {
	if strings.TrimSpace(text) == "all" {
		return Entries(), nil
	}
	var chosen []Entry
	entries := named()
	for _, profile := range Profiles(text) {
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

// Profiles splits a list of policies at the commas. A part with an equals sign is a field of the policy before it.
func Profiles(text string) (list []string) {
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

// set changes fields of the policy. The other fields keep their values.
func (e *Entry) set(fields string) error {
	if e.Clones || e.Name == "largest-first" {
		return fmt.Errorf("the policy %s has no fields", e.Name)
	}
	policy, err := rules.Parse(rules.Text(e.Policy) + "," + fields)
	e.Policy = policy
	return err
}

// Names returns the names of all policies that can be chosen.
func Names() (all []string) {
	for _, e := range named() {
		all = append(all, e.Name)
	}
	return all
}
