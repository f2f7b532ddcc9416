package journal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Every field of every policy has its key, under its own name. A field that is added to a policy fails here until the
// journal knows it.
func TestEveryFieldOfEveryPolicyIsWritten(t *testing.T) {
	for _, p := range policies {
		name, fields, _ := settings(p.zero)
		assert.Equal(t, p.name, name)
		assert.Equal(t, strings.ToLower(reflect.TypeOf(p.zero).Name()), name)
		checkFields(t, reflect.TypeOf(p.zero), fields)
	}
	var c restart.BudgetConfig
	checkFields(t, reflect.TypeOf(c), append([]field{{"slots", &c.Slots}}, budgetFields(&c)...))
}

func checkFields(t *testing.T, kind reflect.Type, fields []field) {
	t.Helper()
	require.Equal(t, kind.NumField(), len(fields), "%v", kind)
	for i, f := range fields {
		assert.Equal(t, kebab(kind.Field(i).Name), f.key, "%v", kind)
		assert.Equal(t, kind.Field(i).Type, reflect.TypeOf(f.value).Elem(), "%v.%s", kind, f.key)
	}
}

// Each key writes the field of its name, and no other.
func TestKeysAndFieldsBelongTogether(t *testing.T) {
	for _, p := range policies {
		kind := reflect.TypeOf(p.zero)
		for i := range kind.NumField() {
			value := reflect.New(kind).Elem()
			want := p.name + "," + kebab(kind.Field(i).Name) + "=" + setOne(value.Field(i))
			assert.Equal(t, want, string(appendPolicy(nil, value.Interface().(restart.Policy))))
		}
	}
	kind := reflect.TypeFor[restart.BudgetConfig]()
	for i := 1; i < kind.NumField(); i++ {
		var c restart.BudgetConfig
		text := setOne(reflect.ValueOf(&c).Elem().Field(i))
		assert.Equal(t, kebab(kind.Field(i).Name), budgetFields(&c)[i-1].key)
		assert.Equal(t, text, string(budgetFields(&c)[i-1].append(nil)))
	}
}

// setOne gives a field a value that is not its default, and returns its text.
func setOne(v reflect.Value) string {
	switch v.Interface().(type) {
	case bool:
		v.SetBool(true)
		return "yes"
	case float64:
		v.SetFloat(0.5)
		return "0.5"
	case time.Duration:
		v.SetInt(2e9)
		return "2s"
	}
	v.SetInt(7)
	return "7"
}

// Any values of a policy's fields read back as themselves, valid or not.
func TestPoliciesRoundTrip(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		for _, p := range policies {
			value := reflect.New(reflect.TypeOf(p.zero)).Elem()
			for i := range value.NumField() {
				setAny(value.Field(i), source)
			}
			want := value.Interface().(restart.Policy)
			text := string(appendPolicy(nil, want))
			got, err := parsePolicy(text)
			require.NoError(t, err, text)
			require.Equal(t, want, got, text)
		}
	}
}

func setAny(v reflect.Value, source *rand.Rand) {
	switch source.IntN(4) {
	case 0:
		return // its default
	case 1:
		if v.Kind() != reflect.Bool {
			v.Set(reflect.ValueOf(restart.Off).Convert(v.Type()))
			return
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(math.Ldexp(source.Float64()-0.5, source.IntN(40)-20))
	default:
		v.SetInt(int64(source.Uint64()) >> source.IntN(64) >> 32)
	}
}

func TestPolicyText(t *testing.T) {
	for want, policy := range map[string]restart.Policy{
		"mantri":                               nil,
		"mantri,max-restarts=1,idle-gain=off":  restart.Mantri{MaxRestarts: 1, IdleGain: restart.Off},
		"late,speculative-cap=0.2,min-age=off": restart.LATE{SpeculativeCap: 0.2, MinAge: restart.Off},
		"late,use-remaining=yes,early=yes":     restart.LATE{UseRemaining: true, Early: true},
		"spark,quantile=0.75,multiplier=1.5":   restart.Spark{Quantile: 0.75, Multiplier: 1.5},
		"flink,lower-bound=90s":                restart.Flink{LowerBound: 90 * time.Second},
		"hadoop":                               restart.Hadoop{},
		"mapreduce,near-end=0.95":              restart.MapReduce{NearEnd: 0.95},
		"dryad,min-finished=10":                restart.Dryad{MinFinished: 10},
		"never":                                restart.Never{},
		"custom":                               hostsOwn{},
	} {
		assert.Equal(t, want, string(appendPolicy(nil, policy)))
	}
	assert.Equal(t, "custom", string(appendPolicy(nil, &restart.Mantri{})), "a tracker takes a pointer for the host's own")
}

type hostsOwn struct{ _ []int }

func (hostsOwn) Decide(restart.Task, restart.Phase) restart.Decision { return restart.Decision{} }

func TestBudgetsRoundTrip(t *testing.T) {
	for text, want := range map[string]restart.BudgetConfig{
		"100":                             {Slots: 100},
		"100,share=0.2":                   {Slots: 100, Share: 0.2},
		"7,share=off,rate=off,floor=off":  {Slots: 7, Share: restart.Off, Rate: restart.Off, Floor: restart.Off},
		"1000,share=0.5,rate=0.3,floor=5": {Slots: 1000, Share: 0.5, Rate: 0.3, Floor: 5},
	} {
		b, err := restart.NewBudget(want)
		require.NoError(t, err)
		assert.Equal(t, text, string(appendBudget(nil, b)))
		got, err := parseBudget(text)
		require.NoError(t, err)
		assert.Equal(t, b.Config(), got.Config())
	}
	assert.NotPanics(t, func() { appendBudget(nil, &restart.Budget{}) })
}

// Whatever a Config holds is written, and reads back. A field that is added to Config fails here.
func TestEveryFieldOfConfigIsWritten(t *testing.T) {
	machines, err := estimate.NewMachines(1, estimate.MachinesConfig{})
	require.NoError(t, err)
	budget, err := restart.NewBudget(restart.BudgetConfig{Slots: 5})
	require.NoError(t, err)
	none := string(AppendPhase(nil, restart.Config{}))
	for path, c := range leaves(t, machines, budget) {
		text := string(AppendPhase(nil, c))
		assert.NotEqual(t, none, text, "%s is not written", path)
		assert.Contains(t, text, " "+kebab(path[strings.LastIndex(path, ".")+1:])+"=", "under its own name")
		events, err := Parse([]byte(text))
		require.NoError(t, err, "%s: %s", path, text)
		require.Len(t, events, 1)
		assert.Equal(t, text, string(AppendPhase(nil, *events[0].Phase)), path)
	}
}

// leaves returns configurations of which one field each is set.
func leaves(t *testing.T, machines *estimate.Machines, budget *restart.Budget) map[string]restart.Config {
	all := map[string]restart.Config{}
	var walk func(path string, index []int, kind reflect.Type)
	walk = func(path string, index []int, kind reflect.Type) {
		for i := range kind.NumField() {
			f := kind.Field(i)
			at := append(index[:len(index):len(index)], i)
			if f.Type.Kind() == reflect.Struct {
				walk(path+f.Name+".", at, f.Type)
				continue
			}
			var c restart.Config
			v := reflect.ValueOf(&c).Elem().FieldByIndex(at)
			switch v.Interface().(type) {
			case int, time.Duration:
				v.SetInt(7)
			case float64:
				v.SetFloat(0.5)
			case bool:
				v.SetBool(true)
			case []float64:
				v.Set(reflect.ValueOf([]float64{1, math.NaN(), 3}))
			case *estimate.Machines:
				v.Set(reflect.ValueOf(machines))
			case *restart.Budget:
				v.Set(reflect.ValueOf(budget))
			default: // interfaces
				switch f.Name {
				case "Policy":
					c.Policy = restart.Dryad{}
				case "Prior":
					c.Rates.Prior = custom{}
				default:
					t.Fatalf("%s%s: the test does not know how to set it", path, f.Name)
				}
			}
			all[path+f.Name] = c
		}
	}
	walk("", nil, reflect.TypeFor[restart.Config]())
	assert.Greater(t, len(all), 12)
	return all
}

func TestWorks(t *testing.T) {
	few := restart.Config{Work: []float64{1, 2.5, math.NaN(), 0}}
	assert.Equal(t, "phase tasks=4 work=1,2.5,?,0 policy=mantri\n", string(AppendPhase(nil, few)))

	for _, n := range []int{inlineWorks, inlineWorks + 1, 100} {
		works := make([]float64, n)
		for i := range works {
			works[i] = float64(i) + 0.25
		}
		text := AppendPhase(nil, restart.Config{Work: works})
		for _, l := range strings.Split(string(text), "\n") {
			assert.Less(t, len(l), 200, "a readable line")
		}
		var got []float64
		_, err := Replay(text, Options{Configure: func(c *restart.Config) { got = c.Work }})
		require.NoError(t, err)
		assert.Equal(t, works, got)
	}
}

// A phase is written from what the host gave, and from what Tracker.Config gives back, to the same effect.
func TestPhaseOfAFilledConfig(t *testing.T) {
	given := restart.Config{Tasks: 5, Slots: 2, Interval: time.Second, Policy: restart.Flink{Ratio: 0.5}}
	tracker, err := restart.NewTracker(given)
	require.NoError(t, err)
	want := "phase tasks=5 slots=2 interval=1s window=10s grace=2s floor=0.1 policy=flink,ratio=0.5\n"
	assert.Equal(t, want, string(AppendPhase(nil, tracker.Config())))
	_, err = Replay([]byte(want), Options{})
	assert.NoError(t, err)
}

func ExampleAppendPhase() {
	fmt.Printf("%s", AppendPhase(nil, restart.Config{
		Work: []float64{1, 1, 5}, Slots: 2, Interval: time.Second, Policy: restart.LATE{SpeculativeCap: 0.2, MinAge: restart.Off},
	}))
	// Output:
	// phase tasks=3 slots=2 interval=1s work=1,1,5 policy=late,speculative-cap=0.2,min-age=off
}
