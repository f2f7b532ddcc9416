package replicate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files in testdata are worked examples, and their answers must be the answers of the package.
func TestFixturesMatchTheirWorking(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var job Graph
		var tokens ByteBudget
		var bursts LossBursts
		bursts.Resize(10)
		return func(command string, args *fixturetest.Args) string {
			now, machine := time.Unix(0, 0).Add(args.Duration("at")), args.Int("machine")
			switch command {
			case "job":
				job, tokens = Graph{}, ByteBudget{}
			case "done": // a task has ended
				out := Output{Run: args.Duration("run"), Loss: args.Float("loss"), Domain: args.Int("domain")}
				out.Inputs = args.Ints("inputs")
				k, err := job.Add(out)
				require.NoError(t, err)
				tokens.Grant(int64(args.Int("read")))
				return fmt.Sprintf("output %d: %v", k, job.Cost(k))
			case "copy": // Decide, and copy if the answer is Replicate
				k := args.Int("output")
				c := Candidate{Cost: job.Cost(k), CopyTime: args.Duration("takes"), Bytes: int64(args.Int("bytes"))}
				d, loss := Decide(c, tokens.Left()), args.Float("loss")
				if d.Action == Replicate {
					tokens.Spend(d.Bytes)
					job.SetLoss(k, AllLost(job.nodes[k].loss, loss))
				}
				return d.String()
			case "lost":
				return fmt.Sprintf("burst=%v", bursts.Lost(now, machine))
			case "found":
				return fmt.Sprintf("burst=%v", bursts.Found(now, machine))
			case "ahead":
				missing, _ := bursts.Missing(now, machine)
				held := AtRisk{Cost: job.Cost(args.Int("output")), Missing: missing, Readers: args.Int("readers")}
				d := DecideRecompute(held, args.Duration("budget"))
				return fmt.Sprintf("missing=%.3f: %v", missing, d)
			default:
				return args.Fail()
			}
			return ""
		}
	})
}
