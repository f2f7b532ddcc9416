package fairshare

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The fixtures in testdata are worked examples. Each section has a question, a line of dashes, and the answer with
// its working. This command rewrites the fixtures:
//
//	go test ./fairshare -run Fixtures -rewrite
//
// Check every line of the difference.
var rewrite = flag.Bool("rewrite", false, "rewrite the fixtures in testdata")

func TestFixturesMatchTheirWorking(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			var out strings.Builder
			for i, section := range strings.Split(string(data), "\n\n") {
				question, _, _ := strings.Cut(strings.TrimSpace(section), "\n----\n")
				if i > 0 {
					out.WriteString("\n")
				}
				fmt.Fprintf(&out, "%s\n----\n%s", question, answer(t, question))
			}
			if *rewrite {
				require.NoError(t, os.WriteFile(name, []byte(out.String()), 0o644))
			}
			assert.Equal(t, string(data), out.String())
		})
	}
}

// answer computes the answer of one section. A question has comments, a line such as "divide total=100", and a line
// for each pool. A child is indented by two spaces more than its parent.
func answer(t *testing.T, question string) string {
	var pools []Pool
	var names []string
	var parents []int // by depth: the parent of a pool on the next line
	var policy Policy
	var total int64
	for line := range strings.SplitSeq(question, "\n") {
		fields := strings.Fields(line)
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case fields[0] == "divide":
			for _, f := range fields[1:] {
				key, value, _ := strings.Cut(f, "=")
				if key == "total" {
					total = number(t, value)
					continue
				}
				setPolicy(t, &policy, key, value)
			}
		default:
			p := Pool{}
			if depth > 0 {
				p.Parent = Under(parents[depth-1])
			}
			parents = append(parents[:depth], len(pools))
			for _, f := range fields[1:] {
				key, value, _ := strings.Cut(f, "=")
				setPool(t, &p, key, value)
			}
			pools, names = append(pools, p), append(names, strings.Repeat("  ", depth)+fields[0])
		}
	}
	tree, err := New(pools, policy)
	if err != nil {
		return err.Error() + "\n"
	}
	shares, err := tree.Shares(nil, nil, total)
	if err != nil {
		return err.Error() + "\n"
	}
	return draw(tree, names, shares)
}

func number(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, text)
	return n
}

// named returns the value of an enumeration that prints as text.
func named[E interface {
	~uint8
	String() string
}](t *testing.T, text string) (e E) {
	for e = 0; e < 16; e++ {
		if e.String() == text {
			return e
		}
	}
	t.Fatalf("unknown %q", text)
	return 0
}

func setPolicy(t *testing.T, p *Policy, key, value string) {
	switch key {
	case "discipline":
		p.Discipline = named[Discipline](t, value)
	case "surplus":
		p.Surplus = named[Surplus](t, value)
	case "infeasible":
		p.OnInfeasible = named[OnInfeasible](t, value)
	case "basis":
		p.Basis = named[Basis](t, value)
	default:
		t.Fatalf("unknown key %q", key)
	}
}

func setPool(t *testing.T, p *Pool, key, value string) {
	switch key {
	case "min":
		p.Min = number(t, value)
	case "max":
		p.Max = number(t, value)
	case "demand":
		p.Demand = number(t, value)
	case "weight":
		p.Weight = number(t, value)
	case "rank":
		p.Rank = int32(number(t, value))
	case "discipline":
		p.Discipline = named[Discipline](t, value)
	default:
		t.Fatalf("unknown key %q", key)
	}
}

// draw prints each pool as a horizontal bar that is as long as its demand. A # is a unit that the pool gets, and a
// dot is a unit that it wants and does not get. | marks the minimum, and ~ marks the level times the weight.
func draw(tree *Tree, names []string, shares []Share) string {
	longest, wide := int64(1), 0
	for i, s := range shares {
		longest, wide = max(longest, s.Slots, s.Demand), max(wide, len(names[i]))
	}
	const columns = 60
	column := func(units float64) int { // at most one column beyond the end
		return int(math.Round(min(units, float64(longest)+1) * columns / float64(max(longest, columns))))
	}
	var out strings.Builder
	for i, s := range shares {
		got, most := column(float64(s.Slots)), column(float64(max(s.Slots, s.Demand)))
		bar := []byte(strings.Repeat("#", got) + strings.Repeat(".", most-got) + strings.Repeat(" ", columns+2-most))
		level := s.Level * float64(max(1, tree.nodes[tree.positions[i]].weight))
		if tree.policy.Surplus == AboveMinimum {
			level += float64(s.Min)
		}
		if level > 0 && !math.IsInf(level, 1) {
			bar[column(level)] = '~'
		}
		if s.Min > 0 {
			bar[column(float64(s.Min))] = '|'
		}
		fmt.Fprintf(&out, "%-*s %s %v\n", wide, names[i], bar, s)
	}
	return out.String()
}
