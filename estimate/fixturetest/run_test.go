package fixturetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func host(*testing.T) Host {
	sum := 0
	return func(command string, args *Args) string {
		switch command {
		case "add":
			for _, n := range args.Ints("n") {
				sum += n
			}
			return ""
		case "sum":
			return fmt.Sprintf("%d\nof %s, %v, %v", sum, args.String("name"), args.Duration("in"), args.Float("x"))
		}
		return args.Fail()
	}
}

func TestFixturesRun(t *testing.T) { Run(t, "testdata/*.txt", host) }

// The new answers replace the present answers, and all other lines stay.
func TestNewAnswersReplaceTheOld(t *testing.T) {
	text := "# a comment\n\nadd n=1,2\n    rubbish\nsum name=x in=1m x=.5\n# the end\n"
	want := "# a comment\n\nadd n=1,2\nsum name=x in=1m x=.5\n    3\n    of x, 1m0s, 0.5\n# the end\n"
	assert.Equal(t, want, play(t, text, host(t)))
	assert.Equal(t, want, play(t, want, host(t)))
}
