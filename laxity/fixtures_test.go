package laxity

import (
	"fmt"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/fixturetest"
)

// The files of testdata are worked examples, written to be read. Each file has one queue; jobs have names.
func TestFixtures(t *testing.T) {
	fixturetest.Run(t, "testdata/*.txt", func(t *testing.T) fixturetest.Host {
		q, _ := NewQueue(Policy{})
		tickets, names := map[string]int{}, map[int]string{}
		begin := time.Unix(0, 0)
		job := func(args *fixturetest.Args) Job {
			return Job{UntilDeadline: args.Duration("deadline-in"), Projected: args.Duration("needs")}
		}
		say := func(c Choice, ok bool) string {
			if !ok {
				return "none"
			}
			return fmt.Sprintf("job=%s %v", names[c.Ticket], c)
		}
		return func(command string, args *fixturetest.Args) string {
			now := begin.Add(args.Duration("at"))
			switch command {
			case "queue":
				var p Policy
				if rule := args.String("rule"); rule != "" {
					if err := p.Rule.UnmarshalText([]byte(rule)); err != nil {
						return err.Error()
					}
				}
				var err error
				if q, err = NewQueue(p); err != nil {
					return err.Error()
				}
			case "push":
				name := args.String("job")
				tickets[name] = q.Push(now, job(args))
				names[tickets[name]] = name
			case "update":
				return fmt.Sprint(q.Update(now, tickets[args.String("job")], job(args)))
			case "remove":
				return fmt.Sprint(q.Remove(tickets[args.String("job")]))
			case "next":
				return say(q.Peek(now))
			case "pop":
				return say(q.Pop(now))
			case "preempt":
				return say(q.Preempt(now, job(args)))
			default:
				return args.Fail()
			}
			return ""
		}
	})
}
