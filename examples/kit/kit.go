// Package kit is what the demonstrations of the adapters share: the rule that one writes first, the choice of scenarios
// and policies by name, and the tables that compare them.
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

// What goes wrong has the same name in every demonstration.
const (
	Clean  = "clean"  // nothing
	Slow   = "slow"   // a machine is several times slower
	Hang   = "hang"   // attempts hang
	Skew   = "skew"   // some tasks have five times the data, and that is told
	Untold = "untold" // the same, and it is not told
	Death  = "death"  // a machine dies
	Server = "server" // the engine's server is stopped, and started again
)

// naive is the name of the rule that the others are compared with.
const naive = "naive"

// Naive is the rule that one writes first, to compare with: once half of the tasks are done, copy each that has run for
// more than twice the median, once.
var Naive = rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}

// Policy reads a policy as rules.Parse does. Besides there are "none", which takes no action, "naive", and "default",
// which is nil: that of the adapter.
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

// Choice is what to run.
type Choice struct {
	Runs      int
	Scenarios string // names with commas between them; empty: all
	Policies  string // with spaces between them, since they have commas within; empty: those of the demonstration
	Verbose   bool   // print each decision
}

// Flags defines the flags of a choice.
func (c *Choice) Flags(f *flag.FlagSet) {
	c.Runs = 1
	f.Func("runs", "how `often` to run each policy; the tables show medians (default 1)", func(text string) (err error) {
		if c.Runs, err = strconv.Atoi(text); err == nil && c.Runs < 1 {
			err = fmt.Errorf("want 1 or more")
		}
		return err
	})
	f.StringVar(&c.Scenarios, "scenarios", "", "`names` with commas between them (default all)")
	f.StringVar(&c.Policies, "policies", "", "`policies` with spaces between them: default, none, naive, late,min-age=2s, ...")
	f.BoolVar(&c.Verbose, "v", false, "print each decision")
}

// Policies returns the policies that are named, each once, or all if none is. An error is that of the first that can't be
// read.
func Policies[T any](texts string, all []string, read func(text string) (T, error)) (chosen []string, err error) {
	for _, text := range strings.Fields(texts) {
		if _, err := read(text); err != nil {
			return nil, fmt.Errorf("there is no policy %q; there are %s, and others: %w", text, strings.Join(all, ", "), err)
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

// Pick returns those of all that are named, in their order; all if none is.
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
			return nil, fmt.Errorf("there is no %q; there are %s", w, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !slices.Contains(wanted, name(t)) }), nil
}
