package journal

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
)

const (
	inlineWorks  = 16 // tasks; with more tasks the works have lines of their own
	worksPerLine = 16 // works on each such line
)

// AppendPhase appends the line that opens a phase: the configuration of its tracker. A field that is zero is
// left out. The works of more than 16 tasks follow on lines of their own. A policy that is not a value of a
// type in package restart or package rules is written as custom. A prior, a path, a shape, an experience and a
// used record of machines are custom too: a replay needs [Options.Configure] to supply them. O(len(c.Work)).
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

// configFields are the fields of a configuration that have a text. The field tasks is always written.
func configFields(c *tracker.Config) []wire.Field {
	return append([]wire.Field{
		{Key: "tasks", Value: &c.Tasks}, {Key: "slots", Value: &c.Slots}, {Key: "machines", Value: &c.Machines},
		{Key: "interval", Value: &c.Interval}, {Key: "lag", Value: &c.Lag}, {Key: "clones", Value: &c.Clones},
		{Key: "window", Value: &c.Model.Window}, {Key: "grace", Value: &c.Model.Grace}, {Key: "wrap-up", Value: &c.Model.WrapUp},
		{Key: "min-samples", Value: &c.UnitTimes.MinSamples}, {Key: "floor", Value: &c.UnitTimes.Floor},
		{Key: "fixed-overhead", Value: &c.UnitTimes.FixedOverhead},
		{Key: "keep-first-wave", Value: &c.UnitTimes.KeepFirstWave}, {Key: "stream", Value: &c.Stream},
		parsed("work", &c.Work, worksText, parseWorks),
		parsed("policy", &c.Policy, policyText, parsePolicy),
		parsed("budget", &c.Budget, budgetText, parseBudget),
		hostsOwn("prior", c.UnitTimes.Prior != nil, func() { c.UnitTimes.Prior = custom{} }),
		parsed("record", &c.Record, recordText, parseRecord),
		hostsOwn("path", c.Path != nil, func() { c.Path = noPath }),
		hostsOwn("shape", c.Shape != nil, func() { c.Shape = new(survival.Shape) }),
		hostsOwn("experience", c.Experience != nil, func() { c.Experience = new(tracker.Experience) }),
	}, wire.Choices(&c.Limits)...)
}

// parsed returns a field with its own functions to write and to read it.
func parsed[T any](key string, v *T, text func(T) string, parse func(string) (T, error)) wire.Field {
	return wire.Field{Key: key, Value: wire.Word{
		Get: func() string { return text(*v) },
		Set: func(text string) (err error) {
			*v, err = parse(text)
			return err
		},
	}}
}

// hostsOwn returns a field of your program's own, which has no text. When it is read, stand sets a placeholder
// until [Options.Configure] supplies the value.
func hostsOwn(key string, given bool, stand func()) wire.Field {
	return wire.Field{Key: key, Value: wire.Word{
		Get: func() string {
			if given {
				return customName
			}
			return ""
		},
		Set: func(text string) error {
			stand()
			return onlyCustom(key, text)
		},
	}}
}

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
	return dst
}

func parseConfig(words []string) (c tracker.Config, err error) {
	seen, err := wire.ParsePairs(wordPhase, configFields(&c), words)
	if seen&1 == 1 && c.Tasks == 0 && c.Work == nil {
		c.Work = []float64{} // a phase without tasks
	}
	return c, err
}

func onlyCustom(key, value string) error {
	if value != customName {
		return fmt.Errorf("%s is %.40q, want %s", key, value, customName)
	}
	return nil
}

// worksText writes works; it returns an empty text for none.
func worksText(works []float64) string { return string(appendWorks(nil, works)) }

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
