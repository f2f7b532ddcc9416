// Package kit has the parts that the demonstrations of the adapters share. These are a naive rule to compare with,
// flags to choose scenarios and policies by name, and tables that compare the policies.
package kit

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// The names of scenarios. A scenario has the same name in every demonstration.
const (
	Clean  = "clean"  // nothing goes wrong
	Slow   = "slow"   // a machine is several times slower
	Hang   = "hang"   // some attempts hang
	Skew   = "skew"   // some tasks have five times the data, and the policy knows it
	Untold = "untold" // some tasks have five times the data, and the policy does not know it
	Death  = "death"  // a machine dies
	Server = "server" // the server of the engine stops, and starts again
)

// naive is the name of the policy Naive.
const naive = "naive"

// Naive is a simple rule, such as a team writes first, to compare with. As soon as half of the tasks have ended, each
// task that has run for more than twice the median gets one copy.
var Naive = rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}

// Policy reads a policy as rules.Parse does. It also reads three more names: "none" takes no action, "naive" is
// Naive, and "default" is nil, which stands for the default policy of the adapter.
func Policy(text string) (restart.Policy, error) {
	switch text {
	case "default":
		return nil, nil
	case "none":
		return restart.Never{}, nil
	case naive:
		return Naive, nil
	}
	return rules.Parse(text)
}

// Choice is the choice of scenarios, policies and runs of a demonstration. Its zero value is not valid: call Flags.
type Choice struct {
	Runs      int    // runs of each policy, 1 or more
	Scenarios string // names, separated by commas; empty: all
	Policies  string // policies, separated by spaces, since a policy may contain commas; empty: the list of the demonstration
	Verbose   bool   // print each decision
}

// Flags defines the flags of a choice.
func (c *Choice) Flags(f *flag.FlagSet) {
	c.Runs = 1
	f.Func("runs", "`number` of runs of each policy; the tables show medians (default 1)", func(text string) (err error) {
		if c.Runs, err = strconv.Atoi(text); err == nil && c.Runs < 1 {
			err = fmt.Errorf("want 1 or more")
		}
		return err
	})
	f.StringVar(&c.Scenarios, "scenarios", "", "`names` of scenarios, separated by commas (default all)")
	f.StringVar(&c.Policies, "policies", "", "`policies`, separated by spaces: default, none, naive, late,min-age=2s, ...")
	f.BoolVar(&c.Verbose, "v", false, "print each decision")
}

// Policies returns the policies in texts, each once, or all if texts is empty. It returns an error for the first
// policy that read does not accept.
func Policies[T any](texts string, all []string, read func(text string) (T, error)) (chosen []string, err error) {
	for _, text := range strings.Fields(texts) {
		if _, err := read(text); err != nil {
			return nil, fmt.Errorf("policy %q is unknown; some policies are %s: %w", text, strings.Join(all, ", "), err)
		}
		if !slices.Contains(chosen, text) {
			chosen = append(chosen, text)
		}
	}
	if len(chosen) == 0 {
		return all, nil
	}
	return chosen, nil
}

// Pick returns the elements of all with a name in names, in the order of all. It returns all if names is empty.
func Pick[T any](names string, all []T, name func(T) string) ([]T, error) {
	wanted := strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	if len(wanted) == 0 {
		return all, nil
	}
	var known []string
	for _, t := range all {
		known = append(known, name(t))
	}
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("name %q is unknown, want some of %s", w, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !slices.Contains(wanted, name(t)) }), nil
}
