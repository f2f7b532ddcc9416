package clone

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var budget *Budget
		var now Cluster
		grants := map[string]Grant{}
		return func(command string, args *fixturetest.Args) string {
			job := Job{Tasks: args.Int("tasks"), Upstream: args.Int("upstream")}
			name := args.String("job")
			switch command {
			case "cluster":
				now = Cluster{Capacity: args.Int("slots"), Busy: args.Int("busy"), Straggler: args.Float("p")}
			case "budget":
				var c Config
				if shortage := args.String("shortage"); shortage != "" {
					require.NoError(t, c.Shortage.UnmarshalText([]byte(shortage)))
				}
				var err error
				budget, err = NewBudget(c)
				require.NoError(t, err)
			case "count":
				c, err := Count(job.Tasks, now.Straggler, args.Float("risk"))
				require.NoError(t, err)
				return fmt.Sprint("clones=", c)
			case "admit":
				d := budget.Admit(job, now)
				grants[name] = d.Grant
				now.Busy += max(job.Tasks, 0) + (d.Clones-1)*d.Tasks
				return d.String()
			case "ends":
				return fmt.Sprintf("back=%d spent=%d", budget.Release(grants[name], job.Tasks), budget.Spent())
			case "readmit":
				grants[name] = budget.Readmit(args.Int("size"), job.Tasks, args.Int("clones"))
				return fmt.Sprintf("spent=%d", budget.Spent())
			default:
				return args.Fail()
			}
			return ""
		}
	})
}
