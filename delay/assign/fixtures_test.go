package assign

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var m Model
		return func(command string, args *fixturetest.Args) string {
			switch command {
			case "model":
				m = Model{
					Lags: args.Durations("lags"), Compute: args.Durations("compute"),
					Size: args.Float("size"), Bandwidth: args.Float("bandwidth"), Contention: args.Float("contention"),
					Clones: args.Int("clones"), Inputs: args.Int("inputs"),
				}
			case "window":
				return describe(m)
			case "clone":
				if args.String("window") == "forever" {
					return Decide(readInputs(args), Forever).String()
				}
				return Decide(readInputs(args), args.Duration("window")).String()
			default:
				return args.Fail()
			}
			return ""
		}
	})
}

// describe prints a table with the effect of each window that can be the best window.
func describe(m Model) string {
	best, err := ChooseWindow(m)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, "window   p_c   first: T_E   T_C    other: T_E   T_C    reads    task")
	windows := append(slices.Clone(m.Lags), 0, best.InTurn.Window)
	slices.Sort(windows)
	for _, w := range slices.Compact(windows) {
		o, _ := m.At(w)
		if w > best.InTurn.Window {
			break
		}
		mark := ""
		if o == best.Outcome {
			mark = "  <- best"
		}
		s := time.Duration.Seconds
		fmt.Fprintf(&b, "%6.2f  %.2f  %11.2f %5.2f  %11.2f %5.2f %8.2f %7.2f%s\n", s(w), o.Sharing,
			s(o.First.Own), s(o.First.Shared), s(o.Other.Own), s(o.Other.Shared), s(o.Read), s(o.TaskTime), mark)
	}
	return b.String()
}

// readInputs reads inputs such as taken/runs,free/runs: commas separate the inputs, and slashes separate their clones.
func readInputs(args *fixturetest.Args) (inputs []Input) {
	waited, ahead := args.Durations("waited"), args.Ints("ahead")
	for i, text := range args.Strings("inputs") {
		var in Input
		for _, state := range strings.Split(text, "/") {
			c := Clone{State: Finished}
			switch state {
			case "runs":
				c.State = Running
			case "lost":
				c.State = Failed
			case "taken":
				c.Readers = 1
			}
			in.Clones = append(in.Clones, c)
		}
		if i < len(waited) {
			in.Waited = waited[i]
		}
		if i < len(ahead) {
			in.Ahead = ahead[i]
		}
		inputs = append(inputs, in)
	}
	return inputs
}
