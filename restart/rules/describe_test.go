package rules

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
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

// everyPolicy lists the policies that have a text.
func everyPolicy() []restart.Policy { return append(published(), restart.Mantri{}, restart.Never{}) }

// Each field of each policy has its key, under its own name, and the key writes that field and no other. A field that is
// added to a policy fails here until the registration knows it.
func TestKeysAndFieldsBelongTogether(t *testing.T) {
	for _, p := range everyPolicy() {
		kind := reflect.TypeOf(p)
		for i := range kind.NumField() {
			value := reflect.New(kind).Elem()
			want := restart.Describe(p).Name + "," + kebab(kind.Field(i).Name) + "=" + setOne(value.Field(i))
			assert.Equal(t, want, restart.Describe(value.Interface().(restart.Policy)).Text)
		}
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

// Any values of a policy's fields read back as themselves; what is out of range is refused.
func TestPoliciesRoundTrip(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		for _, p := range everyPolicy() {
			value := reflect.New(reflect.TypeOf(p)).Elem()
			for i := range value.NumField() {
				setAny(value.Field(i), source)
			}
			want := value.Interface().(restart.Policy)
			text := restart.Describe(want).Text
			got, err := Parse(text)
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
		"late,speculative-cap=0.2,min-age=off": LATE{SpeculativeCap: 0.2, MinAge: restart.Off},
		"late,use-remaining=yes,early=yes":     LATE{UseRemaining: true, Early: true},
		"spark,quantile=0.75,multiplier=1.5":   Spark{Quantile: 0.75, Multiplier: 1.5},
		"flink,lower-bound=90s":                Flink{LowerBound: 90 * time.Second},
		"hadoop":                               Hadoop{},
		"mapreduce,near-end=0.95":              MapReduce{NearEnd: 0.95},
		"dryad,min-finished=10":                Dryad{MinFinished: 10},
		"never":                                restart.Never{},
		"":                                     hostsOwn{},
	} {
		assert.Equal(t, want, restart.Describe(policy).Text)
	}
}

type hostsOwn struct{}

func (hostsOwn) Decide(restart.Task, restart.Phase) restart.Decision { return restart.Decision{} }

// A policy of the host's own may say what it reads; otherwise it may read anything.
func TestDescribeOfTheHostsOwn(t *testing.T) {
	d := restart.Describe(hostsOwn{})
	assert.Equal(t, "custom", d.Name)
	assert.True(t, d.ReadsFresh && d.ReadsDurations && d.ReadsRates && d.ReadsProgressRates && d.ReadsScores &&
		d.ReadsThroughput && d.ReadsMachines)
	assert.Equal(t, restart.Description{Name: "frugal", ReadsScores: true}, restart.Describe(frugal{}))
}

type frugal struct{ hostsOwn }

func (frugal) Describe() restart.Description {
	return restart.Description{Name: "frugal", ReadsScores: true}
}

func TestParsePolicyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `policy is "", want one of mantri, never, late, hadoop, mapreduce, dryad, spark, flink`,
		"custom":                 `policy is "custom", want one of`,
		"mantri,idle-gain":       `policy mantri: idle-gain is "", want a number`,
		"mantri,idle-gain=x":     `policy mantri: idle-gain is "x", want a number, or off`,
		"mantri,idle-gain=?":     `policy mantri: idle-gain is "?", want a number, or off`,
		"mantri,idle-gain=NaN":   `policy mantri: idle-gain is "NaN", want a number, or off`,
		"mantri,max-restarts=x":  `policy mantri: max-restarts is "x", want a whole number, or off`,
		"late,min-age=5":         `policy late: min-age is "5", want a duration such as 1.5s or 2m, or off`,
		"mantri,max-restarts=-2": "Mantri.MaxRestarts is -2, want a positive number, 0 for the default, or Off",
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestParsePolicyWithSpaces(t *testing.T) {
	for text, want := range map[string]restart.Policy{
		" mantri , max-restarts = 1, idle-gain=2 ": restart.Mantri{MaxRestarts: 1, IdleGain: 2},
		"late, min-age=off\n":                      LATE{MinAge: restart.Off},
	} {
		policy, err := Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, policy)
	}
}

// The rules of this package make copies and kill nothing, and say so: a tracker asks about one task where a slot is refused.
func TestCopiesOnly(t *testing.T) {
	for _, policy := range published() {
		assert.True(t, restart.Describe(policy).CopiesOnly, "%T", policy)
	}
	assert.False(t, restart.Describe(restart.Mantri{}).CopiesOnly)
	assert.False(t, restart.Describe(hostsOwn{}).CopiesOnly)
}
