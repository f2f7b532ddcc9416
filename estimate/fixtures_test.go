package estimate

import (
	"fmt"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var model Linear
		var attempt Progress
		work := 0.0
		times, err := NewUnitTimes(UnitTimesConfig{})
		return func(command string, args *fixturetest.Args) string {
			age := args.Duration("age")
			switch command {
			case "model":
				model = Linear{Grace: args.Duration("grace"), Window: args.Duration("window"), WrapUp: args.Duration("wrap-up")}
			case "attempt":
				attempt, work = Progress{}, args.Float("work")
			case "report":
				if !model.Report(&attempt, age, args.Float("done")) {
					return "ignored"
				}
			case "remaining":
				if left := model.Remaining(&attempt, age, work); left != Unknown {
					return left.Round(time.Millisecond).String()
				}
				return "unknown"
			case "finished":
				times.Finish(NoSample, Run{Age: age, Work: args.Float("work")})
			case "fresh":
				f := Fresh{UnitTime: times, Work: args.Float("work"), Lag: args.Duration("lag")}
				expected := f.Expected()
				if expected == Unknown {
					return "unknown"
				}
				return fmt.Sprintf("expected=%v median=%.0fs within-1m=%.2f", expected.Round(time.Millisecond), f.Quantile(.5), f.Below(60))
			default:
				return args.Fail()
			}
			if err != nil {
				return err.Error()
			}
			return ""
		}
	})
}
