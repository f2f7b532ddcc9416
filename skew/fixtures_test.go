package skew

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files in testdata are worked examples, and their answers must be the answers of the package.
func TestFixturesMatchTheirWorking(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var reducers []Reducer
		return func(command string, args *fixturetest.Args) string {
			switch command {
			case "worker":
				fixed, unit := args.Duration("fixed").Seconds(), args.Float("unit")
				r := Reducer{SecondsPerUnit: unit, Ready: args.Duration("ready"), Deadline: args.Duration("deadline")}
				if fixed > 0 {
					r.Seconds = func(size int64) float64 { return fixed + unit*float64(size) }
				}
				reducers = append(reducers, r)
			case "assign":
				p := Problem{Reducers: reducers}
				for _, size := range args.Ints("sizes") {
					p.Sizes = append(p.Sizes, int64(size))
				}
				var c Policy
				if rule := args.String("rule"); rule != "" {
					require.NoError(t, c.Rule.UnmarshalText([]byte(rule)))
				}
				plan, err := c.Assign(p)
				require.NoError(t, err)
				return draw(p, plan)
			default:
				return args.Fail()
			}
			return ""
		}
	})
}

// draw returns a picture of a plan: the partitions of each reduce task, and a bar whose length is the time of the
// task.
func draw(p Problem, plan Plan) string {
	var b strings.Builder
	for r := range p.Reducers {
		var parts []string
		for i, of := range plan.Reducer {
			if of == r {
				parts = append(parts, fmt.Sprint(p.Sizes[i]))
			}
		}
		bar := strings.Repeat("#", int(math.Round(30*plan.End[r]/plan.Seconds)))
		fmt.Fprintf(&b, "%d: %-30s %5.1f s  %s\n", r, bar, plan.End[r], strings.Join(parts, " "))
	}
	return b.String() + plan.String()
}
