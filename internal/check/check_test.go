package check

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
)

func TestAnErrorHasFourPartsAndOneText(t *testing.T) {
	for text, c := range map[string]struct {
		err  error
		want straggler.FieldError
	}{
		"restart: Mantri.IdleGain is +Inf, want a number": {
			Bad("restart: Mantri", "IdleGain", math.Inf(1), "a number"),
			straggler.FieldError{Package: "restart", Field: "Mantri.IdleGain", Value: math.Inf(1), Want: "a number"},
		},
		"skew: rows is 0, want at least 1": {
			Least("skew", "rows", 0, 1),
			straggler.FieldError{Package: "skew", Field: "rows", Value: 0, Want: "at least 1"},
		},
		"fairshare/gate: Config.Users[3].Share is 1m0s, want 0 to 2": {
			Badf("fairshare/gate: Config", At("Users", 3, "Share"), time.Minute, "%d to %d", 0, 2),
			straggler.FieldError{
				Package: "fairshare/gate", Field: "Config.Users[3].Share", Value: time.Minute, Want: "0 to 2",
			},
		},
		`clone: Charge is "jobs\n", want a name`: {
			Bad("clone", "Charge", "jobs\n", "a name"),
			straggler.FieldError{Package: "clone", Field: "Charge", Value: "jobs\n", Want: "a name"},
		},
	} {
		var found *straggler.FieldError
		require.True(t, errors.As(fmt.Errorf("host: %w", c.err), &found))
		assert.Equal(t, c.want, *found)
		assert.EqualError(t, c.err, text)
	}
	assert.Equal(t, "Sizes[2]", At("Sizes", 2, ""))
	assert.Equal(t, "internal/check: kind", PlaceOf[kind]())
}

type kind uint8

// MarshalText names two kinds.
func (k kind) MarshalText() ([]byte, error) {
	if k > 1 {
		return nil, errors.New("no name")
	}
	return []byte{'a' + byte(k)}, nil
}

// tagged is a configuration with a field of each sort.
type tagged struct {
	Share       float64       `want:"share or off" default:"0.25"`
	Factor      float64       `want:"factor"`
	Free        float64       `want:"factor or off" default:"7.5"`
	Probability float64       `want:"probability" default:"0.99"`
	Age         time.Duration `want:"age" default:"1h"`
	Length      time.Duration `want:"length" default:"15m"`
	Count       int           `want:"count or off" default:"3"`
	Few         int           `want:"1 to 9"`
	Ratio       float64       `want:"0.5 to 2"`
	Kind        kind
	Any         int
}

// Each field is checked by its tag, in the order of the fields, and a zero is replaced by the default of the tag.
func TestTagsHaveRangesAndDefaults(t *testing.T) {
	full := tagged{Share: .25, Free: 7.5, Probability: .99, Age: time.Hour, Length: 15 * time.Minute, Count: 3}
	assert.Equal(t, full, Filled(tagged{}))
	set := tagged{Off, 1, Off, .5, Off, 1, Off, 9, .5, 1, -7}
	assert.Equal(t, set, Filled(set))
	assert.NoError(t, Valid(set))
	assert.NoError(t, Valid(tagged{}))
	for text, wrong := range map[string]tagged{
		"Share is 1.1, want a share in (0, 1], 0 for the default, or Off":      {Share: 1.1, Count: -2},
		"Factor is -1, want a positive finite number, or 0 for the default":    {Factor: Off},
		"Free is -2, want a positive finite number, or 0 for the default":      {Free: -2},
		"Probability is 1, want a probability in (0, 1), or 0 for the default": {Probability: 1},
		"Age is -2ns, want a positive duration, 0 for the default, or Off":     {Age: -2},
		"Length is -1ns, want a positive duration, or 0 for the default":       {Length: Off},
		"Count is -2, want a positive number, 0 for the default, or Off":       {Count: -2, Kind: 2},
		"Few is 10, want 1 to 9, or 0 for the default":                         {Few: 10},
		"Ratio is 0.4, want 0.5 to 2, or 0 for the default":                    {Ratio: .4},
		"Kind is 2, want one of: a, b":                                         {Kind: 2},
	} {
		assert.EqualError(t, Valid(wrong), "internal/check: tagged."+text)
	}
	assert.ErrorContains(t, Valid(struct {
		N int `want:"few"`
	}{}), "has no such range")
}

func TestEachCheckAcceptsItsRangeOnly(t *testing.T) {
	const p, f = "x: Y", "F"
	nan, inf := math.NaN(), math.Inf(1)
	for i, err := range []error{
		Share(p, f, 0, false), Share(p, f, 1, false), Share(p, f, Off, true), Factor(p, f, 0), Factor(p, f, 1e300),
		Age(p, f, 0), Age(p, f, Off), Age(p, f, math.MaxInt64), Count(p, f, 0, false), Count(p, f, int64(Off), true),
		Within(p, f, 0, 2, 3), Within(p, f, 2, 2, 3), Within(p, f, 3., 2, 3), Probability(p, f, 0, false), Probability(p, f, .999, false), Probability(p, f, Off, true),
		Least(p, f, time.Second, time.Second), Named(p, f, kind(1)),
	} {
		assert.NoError(t, err, "%d", i)
	}
	for i, err := range []error{
		Share(p, f, nan, true), Share(p, f, 1.1, true), Share(p, f, Off, false), Share(p, f, -.1, true), Factor(p, f, nan),
		Factor(p, f, inf), Factor(p, f, Off), Age(p, f, -2), Count(p, f, Off, false), Count(p, f, -2, true),
		Probability(p, f, 1, false), Probability(p, f, Off, false), Probability(p, f, nan, true), Least(p, f, 0, time.Duration(1)), Named(p, f, kind(2)),
	} {
		assert.Error(t, err, "%d", i)
	}
	assert.EqualError(t, cmp.Or(Count(p, f, 3, true), Named(p, f, kind(2)), Age(p, f, -2)),
		"x: Y.F is 2, want one of: a, b", "the first fault is told")
	assert.NoError(t, cmp.Or(Count(p, f, 3, true), Age(p, f, 2)))
	assert.Equal(t, 7, Or(0, 7))
	assert.Equal(t, .5, Or(.5, 7))
}

func TestNilIsAPointerOrFunctionInAnInterface(t *testing.T) {
	var f func()
	assert.True(t, Nil((*int)(nil)))
	assert.True(t, Nil(f))
	assert.False(t, Nil(nil))
	assert.False(t, Nil(0))
}
