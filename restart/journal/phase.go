package journal

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Works are written on the phase line while they are few, and on lines of their own otherwise.
const (
	inlineWorks  = 16
	worksPerLine = 16
)

// AppendPhase appends the line that opens a journal: what a tracker of this configuration is to know. The works of
// more than 16 tasks follow on lines of their own. Fields that are zero are left out. A policy that is not a value of
// one of the package restart's types is written as custom, and so are a prior, a path and a record of machines, which
// have no text: replaying takes [Options.Configure] to supply them. O(len(c.Work)).
func AppendPhase(dst []byte, c tracker.Config) []byte {
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
		dst = append(appendWorks(append(dst, wordWork+" "...), work[:n]), '\n')
		work = work[n:]
	}
	return dst
}

// configFields are the facts and choices that are plain numbers; tasks is always written.
func configFields(c *tracker.Config) []wire.Field {
	return []wire.Field{
		{Key: "tasks", Value: &c.Tasks}, {Key: "slots", Value: &c.Slots}, {Key: "machines", Value: &c.Machines},
		{Key: "interval", Value: &c.Interval}, {Key: "lag", Value: &c.Lag}, {Key: "clones", Value: &c.Clones},
		{Key: "window", Value: &c.Model.Window}, {Key: "grace", Value: &c.Model.Grace}, {Key: "wrap-up", Value: &c.Model.WrapUp},
		{Key: "min-samples", Value: &c.UnitTimes.MinSamples}, {Key: "floor", Value: &c.UnitTimes.Floor},
		{Key: "fixed-overhead", Value: &c.UnitTimes.FixedOverhead},
		{Key: "keep-first-wave", Value: &c.UnitTimes.KeepFirstWave},
	}
}

// The keys of a phase line that are not plain numbers.
const (
	keyWork   = "work"
	keyPolicy = "policy"
	keyBudget = "budget"
	keyPrior  = "prior"
	keyRecord = "record"
	keyPath   = "path"
	keyShape  = "shape"
)

func appendConfig(dst []byte, c *tracker.Config) []byte {
	copied := *c
	if copied.Tasks == 0 {
		copied.Tasks = len(c.Work)
	}
	dst = append(dst, wordPhase...)
	for i, f := range configFields(&copied) {
		if i == 0 || !f.Unset() {
			dst = f.Append(dst, ' ')
		}
	}
	if len(c.Work) > 0 {
		dst = appendWorks(appendKey(dst, keyWork), c.Work)
	}
	dst = append(appendKey(dst, keyPolicy), policyText(c.Policy)...)
	if c.Budget != nil {
		dst = appendBudget(appendKey(dst, keyBudget), c.Budget)
	}
	if c.UnitTimes.Prior != nil {
		dst = append(appendKey(dst, keyPrior), customName...)
	}
	if c.Record != nil {
		dst = append(appendKey(dst, keyRecord), recordText(c.Record)...)
	}
	if c.Path != nil {
		dst = append(appendKey(dst, keyPath), customName...)
	}
	if c.Shape != nil {
		dst = append(appendKey(dst, keyShape), customName...)
	}
	return dst
}

func appendKey(dst []byte, key string) []byte { return append(append(append(dst, ' '), key...), '=') }

func parseConfig(words []string) (c tracker.Config, err error) {
	fields := configFields(&c)
	seen := make(map[string]bool, len(words))
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return c, fmt.Errorf("phase: got %.40q, want key=value", word)
		}
		if seen[key] {
			return c, fmt.Errorf("phase: %s is given twice", key)
		}
		seen[key] = true
		if err := parsePart(&c, fields, key, value); err != nil {
			return c, fmt.Errorf("phase: %w", err)
		}
	}
	return c, nil
}

func parsePart(c *tracker.Config, fields []wire.Field, key, value string) (err error) {
	if i := wire.Find(fields, key); i >= 0 {
		return fields[i].Parse(value)
	}
	switch key {
	case keyWork:
		c.Work, err = parseWorks(value)
	case keyPolicy:
		c.Policy, err = parsePolicy(value)
	case keyBudget:
		c.Budget, err = parseBudget(value)
	case keyPrior:
		c.UnitTimes.Prior = custom{}
		err = onlyCustom(key, value)
	case keyRecord:
		c.Record, err = parseRecord(value)
	case keyPath:
		c.Path = noPath
		err = onlyCustom(key, value)
	case keyShape:
		c.Shape = new(survival.Shape)
		err = onlyCustom(key, value)
	default:
		err = fmt.Errorf("no field %.40q, want one of %s, work, policy, budget, prior, record, path, shape",
			key, wire.Keys(fields))
	}
	return err
}

func onlyCustom(key, value string) error {
	if value != customName {
		return fmt.Errorf("%s is %.40q, want %s", key, value, customName)
	}
	return nil
}

func appendWorks(dst []byte, works []float64) []byte {
	for i, w := range works {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.Field{Value: &w}.AppendValue(dst)
	}
	return dst
}

func parseWorks(text string) ([]float64, error) {
	works := make([]float64, 0, strings.Count(text, ",")+1)
	for part := range strings.SplitSeq(text, ",") {
		var w float64
		if err := (wire.Field{Key: fmt.Sprintf("work of task %d", len(works)), Value: &w}).Parse(part); err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	return works, nil
}
