package journal

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// Works are written on the phase line while they are few, and on lines of their own otherwise.
const (
	inlineWorks  = 16
	worksPerLine = 16
)

// AppendPhase appends the line that opens a journal: what a tracker of this configuration is to know. The works of
// more than 16 tasks follow on lines of their own. Fields that are zero are left out. A policy that is not a value of
// one of the package restart's types is written as custom, and so are a prior and machine factors, which have no text:
// replaying takes [Options.Configure] to supply them. O(len(c.Work)).
func AppendPhase(dst []byte, c restart.Config) []byte {
	work := c.Work
	if len(work) <= inlineWorks {
		return append(appendConfig(dst, &c), '\n')
	}
	if c.Tasks == 0 {
		c.Tasks = len(work)
	}
	c.Work = nil
	dst = append(appendConfig(dst, &c), '\n')
	for len(work) > 0 {
		n := min(len(work), worksPerLine)
		dst = append(appendWorks(append(dst, "work "...), work[:n]), '\n')
		work = work[n:]
	}
	return dst
}

// configFields are the facts and choices that are plain numbers; tasks is always written.
func configFields(c *restart.Config) []field {
	return []field{
		{"tasks", &c.Tasks}, {"slots", &c.Slots}, {"machines", &c.Machines}, {"interval", &c.Interval}, {"lag", &c.Lag},
		{"window", &c.Model.Window}, {"grace", &c.Model.Grace}, {"wrap-up", &c.Model.WrapUp},
		{"min-samples", &c.Rates.MinSamples}, {"floor", &c.Rates.Floor}, {"fixed-overhead", &c.Rates.FixedOverhead},
		{"keep-first-wave", &c.Rates.KeepFirstWave},
	}
}

// The keys of a phase line that are not plain numbers.
const (
	keyWork    = "work"
	keyPolicy  = "policy"
	keyBudget  = "budget"
	keyPrior   = "prior"
	keyFactors = "factors"
)

func appendConfig(dst []byte, c *restart.Config) []byte {
	copied := *c
	if copied.Tasks == 0 {
		copied.Tasks = len(c.Work)
	}
	dst = append(dst, "phase"...)
	for i, f := range configFields(&copied) {
		if i == 0 || !f.unset() {
			dst = f.append(appendKey(append(dst, ' '), f.key))
		}
	}
	if len(c.Work) > 0 {
		dst = appendWorks(appendKey(append(dst, ' '), keyWork), c.Work)
	}
	dst = appendPolicy(appendKey(append(dst, ' '), keyPolicy), c.Policy)
	if c.Budget != nil {
		dst = appendBudget(appendKey(append(dst, ' '), keyBudget), c.Budget)
	}
	if c.Rates.Prior != nil {
		dst = append(appendKey(append(dst, ' '), keyPrior), customName...)
	}
	if c.Factors != nil {
		dst = append(appendKey(append(dst, ' '), keyFactors), customName...)
	}
	return dst
}

func parseConfig(words []string) (*restart.Config, error) {
	c := &restart.Config{}
	fields := configFields(c)
	seen := make(map[string]bool, len(words))
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("phase: got %s, want key=value", quote(word))
		}
		if seen[key] {
			return nil, fmt.Errorf("phase: %s is given twice", key)
		}
		seen[key] = true
		if err := parsePart(c, fields, key, value); err != nil {
			return nil, fmt.Errorf("phase: %w", err)
		}
	}
	return c, nil
}

func parsePart(c *restart.Config, fields []field, key, value string) (err error) {
	if i := find(fields, key); i >= 0 {
		return fields[i].parse(value)
	}
	switch key {
	case keyWork:
		c.Work, err = parseWorks(value)
	case keyPolicy:
		c.Policy, err = parsePolicy(value)
	case keyBudget:
		c.Budget, err = parseBudget(value)
	case keyPrior:
		c.Rates.Prior = custom{}
		err = onlyCustom(key, value)
	case keyFactors:
		if c.Factors, err = estimate.NewMachines(0, estimate.MachinesConfig{}); err == nil {
			err = onlyCustom(key, value)
		}
	default:
		err = fmt.Errorf("no field %s, want one of %s, work, policy, budget, prior, factors", quote(key), keys(fields))
	}
	return err
}

func onlyCustom(key, value string) error {
	if value != customName {
		return fmt.Errorf("%s is %s, want %s", key, quote(value), customName)
	}
	return nil
}

func appendWorks(dst []byte, works []float64) []byte {
	for i, w := range works {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, w)
	}
	return dst
}

func parseWorks(text string) ([]float64, error) {
	works := make([]float64, 0, strings.Count(text, ",")+1)
	for part := range strings.SplitSeq(text, ",") {
		w, err := parseFloat(part)
		if err != nil {
			return nil, fmt.Errorf("work of task %d is %s, want a number, or ? for unknown", len(works), quote(part))
		}
		works = append(works, w)
	}
	return works, nil
}
