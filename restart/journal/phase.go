package journal

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
)

const (
	// The work of up to inlineWorks tasks is written on the line of the phase. The work of more tasks is written on
	// separate lines.
	inlineWorks = 16
	// The number of tasks whose work is written on each separate line.
	worksPerLine = 16
)

// appendPhase appends the line that begins a phase: the configuration of its tracker. A field that is zero is left
// out. If there are more than 16 tasks, their work is written on further lines.
//
// Some values have no text, and are written as custom. These are a policy whose type is not in package restart or
// package rules, a prior, a path, and a Knowledge that is not empty. For a replay, [Options.Configure] must supply these
// values. O(len(c.Work)).
func appendPhase(dst []byte, c tracker.Config) []byte {
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

// configFields returns the fields of a configuration that are written in a journal. The first field, tasks, is always
// written, even if it is zero.
func configFields(c *tracker.Config) []wire.Field {
	return append([]wire.Field{
		{Key: "tasks", Value: &c.Tasks}, {Key: "slots", Value: &c.Slots}, {Key: "machines", Value: &c.Machines},
		{Key: "interval", Value: &c.Interval}, {Key: "lag", Value: &c.Lag}, {Key: "clones", Value: &c.Clones},
		{Key: "window", Value: &c.Model.Window}, {Key: "grace", Value: &c.Model.Grace}, {Key: "wrap-up", Value: &c.Model.WrapUp},
		{Key: "min-samples", Value: &c.UnitTimes.MinSamples}, {Key: "floor", Value: &c.UnitTimes.Floor},
		{Key: "fixed-overhead", Value: &c.UnitTimes.FixedOverhead},
		{Key: "keep-first-wave", Value: &c.UnitTimes.KeepFirstWave}, {Key: "stream", Value: &c.Stream},
		{Key: "recent", Value: &c.Recent},
		parsed("work", &c.Work, worksText, parseWorks),
		parsed("policy", &c.Policy, policyText, parsePolicy),
		parsed("budget", &c.Budget, budgetText, parseBudget),
		hostsOwn("prior", c.UnitTimes.Prior != nil, func() { c.UnitTimes.Prior = custom{} }),
		parsed("kind", &c.Kind, quoteKind, unquoteKind),
		parsed("knowledge", &c.Knowledge, knowledgeText, parseKnowledge),
		hostsOwn("path", c.Path != nil, func() { c.Path = noPath }),
	}, wire.Choices(&c.Limits)...)
}

// parsed returns a field for the value v that is written by the function text and read by the function parse.
func parsed[T any](key string, v *T, text func(T) string, parse func(string) (T, error)) wire.Field {
	return wire.Field{Key: key, Value: wire.Word{
		Get: func() string { return text(*v) },
		Set: func(text string) (err error) {
			*v, err = parse(text)
			return err
		},
	}}
}

// hostsOwn returns a field for a value that has no text, because it is the host's own. It is written as custom. If
// custom is read, the function stand sets a placeholder, until [Options.Configure] supplies the value.
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

// appendConfig appends the line of a phase without a line end.
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

// parseConfig reads the configuration from the words that follow the word "phase".
func parseConfig(words []string) (c tracker.Config, err error) {
	seen, err := wire.ParsePairs(wordPhase, configFields(&c), words)
	if seen&1 == 1 && c.Tasks == 0 && c.Work == nil {
		// An empty slice, and not nil, means a phase without tasks.
		c.Work = []float64{}
	}
	return c, err
}

// onlyCustom returns an error if the value is not the word custom.
func onlyCustom(key, value string) error {
	if value != customName {
		return fmt.Errorf("%s is %.40q, want %s", key, value, customName)
	}
	return nil
}

// worksText writes the work of tasks, separated by commas. For no tasks it returns an empty text.
func worksText(works []float64) string { return string(appendWorks(nil, works)) }

// appendWorks appends the work of tasks, separated by commas.
func appendWorks(dst []byte, works []float64) []byte {
	for i, w := range works {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.Field{Value: &w}.AppendValue(dst)
	}
	return dst
}

// parseWorks reads the work of tasks, separated by commas.
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
