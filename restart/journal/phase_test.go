package journal

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// kebab turns a field's name into its key: MaxRestarts into max-restarts.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func TestPoliciesWithoutATextAreCustom(t *testing.T) {
	for _, policy := range []restart.Policy{ownPolicy{}, &restart.Mantri{}} { // a pointer counts as a custom policy
		assert.Contains(t, string(appendPhase(nil, tracker.Config{Policy: policy})), "policy=custom\n")
	}
}

type ownPolicy struct{ _ []int }

func (ownPolicy) Decide(restart.Task, restart.Phase) restart.Decision { return restart.Decision{} }

func TestBudgetsReadBack(t *testing.T) {
	for text, want := range map[string]tracker.BudgetConfig{
		"100":                             {Slots: 100},
		"100,share=0.2":                   {Slots: 100, Share: 0.2},
		"7,share=off,rate=off,floor=off":  {Slots: 7, Share: restart.Off, Rate: restart.Off, Floor: restart.Off},
		"1000,share=0.5,rate=0.3,floor=5": {Slots: 1000, Share: 0.5, Rate: 0.3, Floor: 5},
	} {
		b, err := tracker.NewBudget(want)
		require.NoError(t, err)
		assert.Equal(t, text, budgetText(b))
		got, err := parseBudget(text)
		require.NoError(t, err)
		assert.Equal(t, b.Config(), got.(*tracker.Budget).Config())
	}
	assert.NotPanics(t, func() { budgetText(&tracker.Budget{}) })
}

// Each field of a Config is written and reads back. This test fails when Config gets a field without a text.
func TestEveryFieldOfConfigIsWritten(t *testing.T) {
	budget, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 5})
	require.NoError(t, err)
	none := string(appendPhase(nil, tracker.Config{}))
	for path, c := range leaves(t, budget) {
		text := string(appendPhase(nil, c))
		assert.NotEqual(t, none, text, "%s is not written", path)
		assert.Contains(t, text, " "+kebab(path[strings.LastIndex(path, ".")+1:])+"=", "the key must be the name of the field")
		phases, err := Parse([]byte(text))
		require.NoError(t, err, "%s: %s", path, text)
		require.Len(t, phases, 1)
		assert.Equal(t, text, string(appendPhase(nil, phases[0].Config)), path)
	}
}

// leaves returns configurations with one field set in each.
func leaves(t *testing.T, budget *tracker.Budget) map[string]tracker.Config {
	all := map[string]tracker.Config{}
	var walk func(path string, index []int, kind reflect.Type)
	walk = func(path string, index []int, kind reflect.Type) {
		for i := range kind.NumField() {
			f := kind.Field(i)
			at := append(index[:len(index):len(index)], i)
			if f.Type.Kind() == reflect.Struct {
				walk(path+f.Name+".", at, f.Type)
				continue
			}
			var c tracker.Config
			v := reflect.ValueOf(&c).Elem().FieldByIndex(at)
			switch v.Interface().(type) {
			case int, time.Duration:
				v.SetInt(7)
			case uint64:
				continue // Phase has no meaning without the other fields
			case float64:
				v.SetFloat(0.5)
			case bool:
				v.SetBool(true)
			case []float64:
				v.Set(reflect.ValueOf([]float64{1, math.NaN(), 3}))
			case *tracker.Knowledge:
				v.Set(reflect.ValueOf(new(tracker.Knowledge)))
			case string:
				v.SetString("two words\n\"")
			default: // interfaces
				switch f.Name {
				case "Policy":
					c.Policy = rules.Dryad{}
				case "Budget":
					c.Budget = budget
				case "OnEvent", "Factors":
					continue // not a field of the phase line, or of a custom type
				case "Path":
					c.Path = noPath
				case "Prior":
					c.UnitTimes.Prior = custom{}
				default:
					t.Fatalf("%s%s: the test does not know how to set it", path, f.Name)
				}
			}
			all[path+f.Name] = c
		}
	}
	walk("", nil, reflect.TypeFor[tracker.Config]())
	assert.Greater(t, len(all), 12)
	return all
}

func TestManyWorksHaveLinesOfTheirOwn(t *testing.T) {
	few := tracker.Config{Work: []float64{1, 2.5, math.NaN(), 0}}
	assert.Equal(t, "phase tasks=4 work=1,2.5,?,0 policy=least-cost\n", string(appendPhase(nil, few)))

	for _, n := range []int{inlineWorks, inlineWorks + 1, 100} {
		works := make([]float64, n)
		for i := range works {
			works[i] = float64(i) + 0.25
		}
		text := appendPhase(nil, tracker.Config{Work: works, Interval: time.Second})
		for _, l := range strings.Split(string(text), "\n") {
			assert.Less(t, len(l), 200, "a line must be readable")
		}
		var got []float64
		_, err := Replay(text, Options{Configure: func(_ int, c *tracker.Config) { got = c.Work }})
		require.NoError(t, err)
		assert.Equal(t, works, got)
	}
}

// The given configuration and the configuration that Tracker.Config returns give equal phases.
func TestFilledConfigGivesTheSamePhase(t *testing.T) {
	given := tracker.Config{Tasks: 5, Slots: 2, Interval: time.Second, Policy: rules.Flink{Ratio: 0.5}}
	tr, err := tracker.New(given)
	require.NoError(t, err)
	want := "phase tasks=5 slots=2 interval=1s clones=1 window=10s grace=2s min-samples=3 floor=0.1 policy=flink,ratio=0.5\n"
	assert.Equal(t, want, string(appendPhase(nil, tr.Config())))
	_, err = Replay([]byte(want), Options{})
	assert.NoError(t, err)
}

func ExampleappendPhase() {
	fmt.Printf("%s", appendPhase(nil, tracker.Config{
		Work: []float64{1, 1, 5}, Slots: 2, Interval: time.Second, Policy: rules.LATE{SpeculativeCap: 0.2, MinAge: restart.Off},
	}))
	// Output:
	// phase tasks=3 slots=2 interval=1s work=1,1,5 policy=late,speculative-cap=0.2,min-age=off
}
