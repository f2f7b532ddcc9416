package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
)

// named returns the policies that have a name, by their names, each with its defaults.
func named(t *testing.T) map[string]restart.Policy {
	t.Helper()
	policies := map[string]restart.Policy{}
	for _, name := range rules.Names() {
		policy, err := rules.Parse(name)
		require.NoError(t, err)
		policies[name] = policy
	}
	return policies
}

// A policy that is missing in the table would be custom: no name, no text, no journal. So every type with a
// method Decide, here or in package restart, must be in the table.
func TestEveryPolicyHasAName(t *testing.T) {
	want := map[string]bool{}
	for _, dir := range []string{".", ".."} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Decide" {
					receiver := f.Recv.List[0].Type
					if star, ok := receiver.(*ast.StarExpr); ok {
						receiver = star.X
					}
					want[receiver.(*ast.Ident).Name] = true
				}
			}
		}
	}
	got := map[string]bool{}
	for _, policy := range named(t) {
		got[reflect.TypeOf(policy).Name()] = true
	}
	assert.Equal(t, want, got)
	assert.True(t, got["Flink"] && got["Mantri"])
}

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

// Each field of each policy has a key of its own name. The key writes this field and no other.
func TestKeysAndFieldsBelongTogether(t *testing.T) {
	for name, p := range named(t) {
		kind := reflect.TypeOf(p)
		assert.Equal(t, name, rules.Text(p))
		for i := range kind.NumField() {
			value := reflect.New(kind).Elem()
			want := name + "," + kebab(kind.Field(i).Name) + "=" + setOne(value.Field(i))
			assert.Equal(t, want, rules.Text(value.Interface().(restart.Policy)))
		}
	}
}

// setOne gives a field a value that is not its default, and returns the value's text.
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

// Any values of a policy's fields read back as themselves. A value out of range is refused.
func TestPoliciesReadBack(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		for _, name := range rules.Names() {
			zero, err := rules.Parse(name)
			require.NoError(t, err)
			value := reflect.New(reflect.TypeOf(zero)).Elem()
			for i := range value.NumField() {
				setAny(value.Field(i), source)
			}
			want := value.Interface().(restart.Policy)
			text := rules.Text(want)
			got, err := rules.Parse(text)
			if restart.Validate(want) != nil {
				require.ErrorContains(t, err, restart.Validate(want).Error(), text)
				continue
			}
			require.NoError(t, err, text)
			require.Equal(t, want, got, text)
		}
	}
}

func setAny(v reflect.Value, source *rand.Rand) {
	switch source.IntN(4) {
	case 0:
		return // the default value
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
		"least-cost":                           nil,
		"mantri":                               restart.Mantri{},
		"mantri,max-restarts=1,idle-gain=off":  restart.Mantri{MaxRestarts: 1, IdleGain: restart.Off},
		"late,speculative-cap=0.2,min-age=off": &rules.LATE{SpeculativeCap: 0.2, MinAge: restart.Off},
		"late,use-remaining=yes,early=yes":     rules.LATE{UseRemaining: true, Early: true},
		"spark,quantile=0.75,multiplier=1.5":   rules.Spark{Quantile: 0.75, Multiplier: 1.5},
		"flink,lower-bound=90s":                rules.Flink{LowerBound: 90 * time.Second},
		"hadoop":                               rules.Hadoop{},
		"mapreduce,near-end=0.95":              rules.MapReduce{NearEnd: 0.95},
		"dryad,min-finished=10":                rules.Dryad{MinFinished: 10},
		"sda":                                  &rules.SDA{},
		"ese,multiplier=2":                     rules.ESE{Multiplier: 2},
		"never":                                restart.Never{},
		"":                                     hostsOwn{},
	} {
		assert.Equal(t, want, rules.Text(policy))
	}
}

type hostsOwn struct{}

func (hostsOwn) Decide(restart.Task, restart.Phase) restart.Decision { return restart.Decision{} }

// A custom policy may describe itself. Without a description it is treated as reading all facts.
func TestCustomPolicyDescribesItself(t *testing.T) {
	assert.Equal(t, rules.Description{Facts: rules.AllFacts}, rules.Describe(hostsOwn{}))
	assert.Equal(t, rules.Description{Facts: rules.AllFacts}, rules.Describe((*frugal)(nil)), "a nil pointer cannot describe itself")
	assert.Equal(t, rules.Description{Facts: rules.Scores}, rules.Describe(frugal{}))
	assert.Equal(t, rules.Trials<<1-1, rules.AllFacts|rules.Interval|rules.Trials, "these are all facts")
	assert.True(t, rules.AllFacts.Has(rules.Left|rules.Fresh))
	assert.False(t, rules.Left.Has(rules.Left|rules.Fresh))
}

type frugal struct{ hostsOwn }

func (frugal) Describe() rules.Description { return rules.Description{Facts: rules.Scores} }

func TestDescribeKnowsEachPolicy(t *testing.T) {
	assert.Equal(t, rules.Describe(restart.LeastCost{}), rules.Describe(nil))
	assert.Equal(t, restart.Limits{Restarts: 5, Copies: restart.Off},
		rules.Describe(restart.Mantri{MaxRestarts: 5, MaxCopies: restart.Off}).Limits)
	assert.Equal(t, 0.25, rules.Describe(rules.LATE{}).SlowNode)
	assert.Equal(t, 0.5, rules.Describe(&rules.LATE{SlowNode: 0.5}).SlowNode)
	assert.Zero(t, rules.Describe(rules.LATE{SlowNode: restart.Off}).SlowNode)
	names := rules.Names()
	names[0] = "changed"
	assert.Equal(t, "mantri", rules.Names()[0])
}

// Effective fills in the defaults of each policy of the library, and returns any other policy as it is.
func TestEffectiveFillsInTheDefaults(t *testing.T) {
	assert.Equal(t, restart.LeastCost{}.Effective(), rules.Effective(nil))
	assert.Equal(t, rules.Spark{Quantile: .5}.Effective(), rules.Effective(&rules.Spark{Quantile: .5}))
	assert.Equal(t, restart.Never{}, rules.Effective(restart.Never{}))
	for _, policy := range policytest.Policies() {
		full := rules.Effective(policy)
		assert.Equal(t, full, rules.Effective(full), "%T", policy)
		assert.IsType(t, policy, full)
	}
}

func TestParseErrorsNameTheExpectedForm(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `policy is "", want one of mantri, never, late, hadoop, mapreduce, dryad, spark, flink`,
		"custom":                 `policy is "custom", want one of`,
		"never,x=1":              `policy never has no fields, got "x=1"`,
		"mantri,idle-gain":       `policy mantri: idle-gain is "", want a number`,
		"mantri,idle-gain=x":     `policy mantri: idle-gain is "x", want a number, or off`,
		"mantri,idle-gain=?":     `policy mantri: idle-gain is "?", want a number, or off`,
		"mantri,idle-gain=NaN":   `policy mantri: idle-gain is "NaN", want a number, or off`,
		"mantri,max-restarts=x":  `policy mantri: max-restarts is "x", want a whole number, or off`,
		"late,min-age=5":         `policy late: min-age is "5", want a duration such as 1.5s or 2m, or off`,
		"mantri,max-restarts=-2": "Mantri.MaxRestarts is -2, want a positive number, 0 for the default, or Off",
	} {
		_, err := rules.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestParseIgnoresSpaces(t *testing.T) {
	for text, want := range map[string]restart.Policy{
		" mantri , max-restarts = 1, idle-gain=2 ": restart.Mantri{MaxRestarts: 1, IdleGain: 2},
		"late, min-age=off\n":                      rules.LATE{MinAge: restart.Off},
	} {
		policy, err := rules.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, policy)
	}
}

// A policy decides the same without the facts that it does not name. A policy with CopiesOnly only copies.
func TestPoliciesSayWhatTheyReadAndDo(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	acted := map[string]bool{}
	for range 3000 {
		task, phase := randomFacts(source)
		for name, policy := range policytest.Policies() {
			says := rules.Describe(policy)
			d := policy.Decide(task, phase)
			t2, p2 := without(says.Facts, task, phase)
			require.Equal(t, d, policy.Decide(t2, p2), "%s: %+v %+v", name, task, phase)
			acted[name] = acted[name] || d.Action != restart.Keep
			if says.CopiesOnly {
				require.LessOrEqual(t, d.Action, restart.Copy, name)
			}
		}
	}
	delete(acted, "never")
	for name, did := range acted {
		assert.True(t, did, "%s never acted", name)
	}
}

// randomFacts makes a task that may well be slow.
func randomFacts(source *rand.Rand) (restart.Task, restart.Phase) {
	some := func() *[5]float64 {
		return &[5]float64{source.Float64(), source.Float64(), source.Float64(), source.Float64(), source.Float64()}
	}
	t := restart.Task{Work: 1, Clones: 1}
	t.Fresh.Work, t.Fresh.UnitTime = 1, values(some()[:]...)
	for i := range 1 + source.IntN(4)/3*2 {
		c := restart.Attempt{
			Machine: i, Elapsed: seconds(60 + 10*source.Float64()), Remaining: seconds(3 * source.Float64()),
			Score: source.Float64(), Done: source.Float64(),
		}
		if source.IntN(2) == 0 {
			c.Left, c.Basis = values(some()[:]...), restart.Basis(1+source.IntN(2))
			c.Remaining = seconds(c.Left.Mean())
		}
		t.Attempts = append(t.Attempts, c)
	}
	p := restart.Phase{
		Interval: seconds(0.1), Tasks: 10, Finished: source.IntN(10), Waiting: source.IntN(2), Slots: 10, FreeSlots: source.IntN(3),
	}
	p.Peers = restart.Peers{
		Durations: values(some()[:]...), UnitTimes: values(some()[:]...), ProgressRates: values(some()[:]...),
		MeanScore: source.Float64(), Throughput: source.Float64() / 30,
		Machine: restart.MachineProgress{Total: source.Float64(), Of: values(some()[:]...)},
	}
	return t, p
}

// without removes the facts that a policy does not read.
func without(facts rules.Facts, t restart.Task, p restart.Phase) (restart.Task, restart.Phase) {
	for fact, clear := range map[rules.Facts]func(){
		rules.Interval: func() { p.Interval = 0 },
		rules.Fresh:    func() { t.Fresh.Work, t.Fresh.UnitTime = 0, nil },
		rules.Left: func() {
			t.Attempts = append([]restart.Attempt(nil), t.Attempts...)
			for i := range t.Attempts {
				t.Attempts[i].Left, t.Attempts[i].Basis = nil, restart.NoBasis
			}
		},
		rules.Durations:     func() { p.Peers.Durations = nil },
		rules.UnitTimes:     func() { p.Peers.UnitTimes = nil },
		rules.ProgressRates: func() { p.Peers.ProgressRates = nil },
		rules.Scores:        func() { p.Peers.MeanScore = math.NaN() },
		rules.Throughput:    func() { p.Peers.Throughput = 0 },
		rules.Machines:      func() { p.Peers.Machine = restart.MachineProgress{} },
	} {
		if !facts.Has(fact) {
			clear()
		}
	}
	return t, p
}
