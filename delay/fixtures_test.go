package delay

import (
	"fmt"
	"testing"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		var job Locality
		return func(command string, args *fixturetest.Args) string {
			now := start.Add(args.Duration("at"))
			switch command {
			case "job":
				c := Config{Waits: args.Durations("waits"), Misses: args.Ints("misses")}
				if rule := args.String("reset"); rule != "" {
					if err := c.Reset.UnmarshalText([]byte(rule)); err != nil {
						return err.Error()
					}
				}
				policy, err := New(c)
				if err != nil {
					return err.Error()
				}
				job = policy.Start(now)
			case "offer":
				return job.Offer(now, args.Int("level")).String()
			case "allowed":
				level, next := job.Allowed(now)
				return fmt.Sprintf("level=%d next-level-in=%v", level, next)
			case "candidates":
				levels := uint64(0)
				for _, level := range args.Ints("levels") {
					levels |= 1 << level
				}
				job.SetCandidates(now, levels)
			case "round":
				job.EndRound(now, args.Bool("all"))
			default:
				return args.Fail()
			}
			return ""
		}
	})
}
