package placement

import (
	"fmt"
	"testing"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read. Sizes are in megabytes, bandwidths in megabytes per second.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var p Problem
		floats := func(args *fixturetest.Args, key string) (all []float64) {
			for _, n := range args.Ints(key) {
				all = append(all, float64(n))
			}
			return all
		}
		return func(command string, args *fixturetest.Args) string {
			switch command {
			case "racks":
				p = Problem{Up: floats(args, "up"), Down: floats(args, "down"), Slots: args.Ints("slots")}
			case "task":
				p.Input = append(p.Input, floats(args, "input"))
			case "assign":
				a, err := Assign(p, DefaultEffort)
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("racks=%v %v", a.Rack, a)
			default:
				return args.Fail()
			}
			return ""
		}
	})
}
